package castellan.check;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import org.apache.kafka.clients.producer.MockProducer;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.errors.ProducerFencedException;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.junit.jupiter.api.Test;

class TransactionalTest {
    private static final double RATE = 1000;

    private final Recorded recorded = new Recorded();
    private final Transactional writer =
            new Transactional(SettingsTest.settings(RATE), recorded.log, 1);

    /** Ends the load after so many transactions. */
    private class Producer extends MockProducer<byte[], byte[]> {
        private int left;

        Producer(int transactions) {
            super(true, new ByteArraySerializer(), new ByteArraySerializer());
            left = transactions;
            initTransactions();
        }

        @Override
        public void beginTransaction() {
            super.beginTransaction();
            if (--left == 0) {
                writer.stop();
            }
        }
    }

    @Test
    void everyFourthIsAbortedOnPurpose() {
        writer.write(new Producer(4));
        assertEquals(
                List.of("committed 1 0 T", "committed 1 1 T", "committed 1 2 T"),
                recorded.lines("committed", 3));
        assertEquals(List.of("aborted 1 3 T"), recorded.lines("aborted", 3));
        assertEquals(400, recorded.lines("acked", 3).size(), "a tenth of a second each");
    }

    /** Whether it was committed nobody knows, so the judge must not count on either. */
    @Test
    void aFencedProducerLeavesItsTransactionUnsure() {
        Producer producer = new Producer(9);
        producer.commitTransactionException = new ProducerFencedException("fenced");
        writer.write(producer);
        assertEquals(List.of(), recorded.lines("committed", 3));
        List<String> unsure = recorded.lines("unsure", 3);
        assertEquals(1, unsure.size());
        assertTrue(unsure.get(0).startsWith("unsure 1 0 T "), unsure.get(0));
    }

    @Test
    void aTransactionThatFailsOtherwiseIsAborted() {
        Producer producer = new Producer(1);
        producer.commitTransactionException = new KafkaException("once");
        writer.write(producer);
        assertEquals(List.of("aborted 1 0 T"), recorded.lines("aborted", 3));
        assertEquals(1, recorded.lines("trouble", 2).size());
    }

    @Test
    void aCommitThatTookTooLongIsTriedAgain() {
        Producer producer =
                new Producer(1) {
                    private boolean late = true;

                    @Override
                    public void commitTransaction() {
                        if (late) {
                            late = false;
                            throw new TimeoutException("late");
                        }
                        super.commitTransaction();
                    }
                };
        writer.write(producer);
        assertEquals(List.of("committed 1 0 T"), recorded.lines("committed", 3));
    }
}
