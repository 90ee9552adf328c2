package castellan.check;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.nio.charset.StandardCharsets;
import java.util.List;
import org.apache.kafka.clients.producer.MockProducer;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.junit.jupiter.api.Test;

class NumberingTest {
    private final Recorded recorded = new Recorded();
    private final Numbering numbering =
            new Numbering(SettingsTest.settings(10), recorded.log, 7);
    private final MockProducer<byte[], byte[]> producer =
            new MockProducer<>(false, new ByteArraySerializer(), new ByteArraySerializer());

    @Test
    void recordsAreNumberedAndGoRoundThePartitions() {
        numbering.send(producer, null);
        numbering.send(producer, 5L);
        assertEquals(List.of("sent 7 0 1 T", "sent 7 1 2 T 5"), recorded.lines("sent", 4));
        var second = producer.history().get(1);
        assertEquals(2, second.partition());
        String value = new String(second.value(), StandardCharsets.US_ASCII);
        assertEquals(60, value.length());
        assertEquals("castellan-check r1 7 1 ", value.substring(0, value.indexOf('.')));
    }

    @Test
    void whatBecameOfARecordIsWritten() {
        numbering.send(producer, null);
        numbering.send(producer, null);
        producer.completeNext();
        producer.errorNext(new TimeoutException("too\nlate"));
        assertEquals(List.of("acked 7 0 T 0"), recorded.lines("acked", 3));
        String error = "org.apache.kafka.common.errors.TimeoutException: too late";
        assertEquals(List.of("failed 7 1 T " + error), recorded.lines("failed", 3));
    }

    /** The judge must know of a record that the client itself refused. */
    @Test
    void aRecordThatCouldNotBeSentHasFailed() {
        producer.sendException = new IllegalStateException("closed");
        assertThrows(IllegalStateException.class, () -> numbering.send(producer, null));
        assertEquals(List.of("sent 7 0 1 T"), recorded.lines("sent", 4));
        assertEquals(
                List.of("failed 7 0 T java.lang.IllegalStateException: closed"),
                recorded.lines("failed", 3));
    }
}
