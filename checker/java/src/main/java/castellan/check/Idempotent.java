package castellan.check;

import org.apache.kafka.clients.producer.Producer;

/** Without transactions: every record stands for itself. */
final class Idempotent extends Writer {
    Idempotent(Settings settings, EventLog log, int client) {
        super(settings, log, client);
    }

    @Override
    protected Producer<byte[], byte[]> open() {
        var producer = settings.producer(null);
        producer.partitionsFor(settings.topic());
        return producer;
    }

    @Override
    protected void write(Producer<byte[], byte[]> producer) {
        while (!isOver()) {
            pace.await();
            numbering.send(producer, null);
        }
        // Everything is acknowledged or given up after that.
        producer.flush();
    }
}
