package castellan.check;

import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.errors.AuthorizationException;
import org.apache.kafka.common.errors.InvalidProducerEpochException;
import org.apache.kafka.common.errors.OutOfOrderSequenceException;
import org.apache.kafka.common.errors.ProducerFencedException;
import org.apache.kafka.common.errors.TimeoutException;

/** In transactions: about ten a second, and every fourth is aborted on purpose. */
final class Transactional extends Writer {
    private static final double PER_SECOND = 10;
    private static final long ABORT_EVERY = 4;

    private final long records;
    private long transaction;

    Transactional(Settings settings, EventLog log, int client) {
        super(settings, log, client);
        records = Math.max(1, Math.round(settings.rate() / PER_SECOND));
    }

    @Override
    protected Producer<byte[], byte[]> open() {
        // The id is this run's own.
        var producer =
                settings.producer("castellan-check-" + settings.run() + "-" + numbering.client);
        producer.initTransactions();
        return producer;
    }

    @Override
    protected void write(Producer<byte[], byte[]> producer) {
        while (!isOver()) {
            boolean usable = one(producer);
            transaction++;
            pace.forgive();
            if (!usable) {
                return;
            }
        }
    }

    /** One transaction; false if the producer is of no more use. */
    private boolean one(Producer<byte[], byte[]> producer) {
        try {
            producer.beginTransaction();
            for (long n = 0; n < records; n++) {
                pace.await();
                numbering.send(producer, transaction);
            }
            // Aborted on purpose is what was written, not what never got there.
            producer.flush();
            if (transaction % ABORT_EVERY == ABORT_EVERY - 1) {
                producer.abortTransaction();
                end("aborted");
            } else {
                commit(producer);
                end("committed");
            }
            return true;
        } catch (ProducerFencedException
                | InvalidProducerEpochException
                | OutOfOrderSequenceException
                | AuthorizationException
                | TimeoutException
                | IllegalStateException error) {
            return unsure(error);
        } catch (KafkaException error) {
            // Anything else is the end of this transaction, and of no other.
            log.error("trouble " + numbering.client + ' ' + log.now(), error);
            return abort(producer);
        }
    }

    /** A commit that took too long is the same commit when it is tried again. */
    private void commit(Producer<byte[], byte[]> producer) {
        try {
            producer.commitTransaction();
        } catch (TimeoutException late) {
            producer.commitTransaction();
        }
    }

    private boolean abort(Producer<byte[], byte[]> producer) {
        try {
            producer.abortTransaction();
            end("aborted");
            return true;
        } catch (KafkaException | IllegalStateException error) {
            return unsure(error);
        }
    }

    private boolean unsure(RuntimeException error) {
        log.error("unsure " + numbering.client + ' ' + transaction + ' ' + log.now(), error);
        return false;
    }

    private void end(String how) {
        log.line(how + ' ' + numbering.client + ' ' + transaction + ' ' + log.now());
    }
}
