package castellan.broker;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.yammer.metrics.core.Gauge;
import com.yammer.metrics.core.MetricName;
import com.yammer.metrics.core.MetricsRegistry;
import java.io.IOException;
import java.util.concurrent.CountDownLatch;
import org.apache.kafka.server.metrics.KafkaYammerMetrics;
import org.junit.jupiter.api.Test;

/** What a rehearsal leaves behind is removed, or it fails. */
class TracesTest {
    @Test
    void gaugesAndPropertiesOfARehearsalAreRemoved() throws IOException, InterruptedException {
        System.setProperty("castellan.test.before", "one");
        Traces before = Traces.look();
        System.setProperty("castellan.test.before", "two");
        System.setProperty("castellan.test.added", "three");
        MetricsRegistry registry = KafkaYammerMetrics.defaultRegistry();
        MetricName name = KafkaYammerMetrics.getMetricName("kafka.server", "Type", "Left");
        registry.newGauge(
                name,
                new Gauge<Integer>() {
                    @Override
                    public Integer value() {
                        return 1;
                    }
                });
        before.restore();
        assertTrue(registry.allMetrics().isEmpty());
        assertEquals("one", System.getProperty("castellan.test.before"));
        assertNull(System.getProperty("castellan.test.added"));
        System.clearProperty("castellan.test.before");
    }

    @Test
    void aThreadThatEndsSoonIsWaitedFor() throws IOException, InterruptedException {
        Traces before = Traces.look();
        CountDownLatch end = new CountDownLatch(1);
        Thread late =
                new Thread(
                        () -> {
                            try {
                                end.await();
                            } catch (InterruptedException e) {
                                Thread.currentThread().interrupt();
                            }
                        },
                        "kafka-late");
        late.start();
        new Thread(end::countDown, "kafka-ends-it").start();
        before.restore();
        assertTrue(!late.isAlive());
    }
}
