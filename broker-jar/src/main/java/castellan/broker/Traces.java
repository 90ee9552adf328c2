package castellan.broker;

import com.yammer.metrics.core.Metered;
import com.yammer.metrics.core.Metric;
import com.yammer.metrics.core.MetricName;
import com.yammer.metrics.core.MetricsRegistry;
import com.yammer.metrics.core.Timer;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import javax.management.JMException;
import javax.management.ObjectName;
import javax.security.auth.login.Configuration;
import org.apache.kafka.server.metrics.KafkaYammerMetrics;

/**
 * What a server leaves in its JVM, to be removed after a rehearsal: gauges that still ask
 * the server that has ended, MBeans, threads, and system properties.
 *
 * <p>In doubt the rehearsal fails, and the broker is started in a new JVM.
 */
final class Traces {
    /** Kafka's threads end soon after their server, if at all. */
    private static final long PATIENCE_NANOS = TimeUnit.SECONDS.toNanos(20);

    private static final long GLANCE_MS = 10;
    private static final String TICKS = "metrics-meter-tick-thread-";

    /**
     * Types whose metrics belong to classes and not to servers: Kafka makes them once in a
     * JVM's life, so they have to stay.
     */
    private static final Set<String> OF_CLASSES =
            Set.of(
                    "DelayedDeleteRecordsMetrics",
                    "DelayedFetchMetrics",
                    "DelayedProduceMetrics",
                    "DelayedRemoteFetchMetrics",
                    "DelayedRemoteListOffsetsMetrics",
                    "LogFlushStats");

    /** Properties that classes set when they are loaded, once in a JVM's life. */
    private static final Set<String> SET_BY_CLASSES =
            Set.of("jdk.tls.rejectClientInitiatedRenegotiation");

    private final Properties properties = new Properties();
    private final Set<Thread> threads = Thread.getAllStackTraces().keySet();
    private final Set<ObjectName> beans = beans();

    private Traces() {
        properties.putAll(System.getProperties());
    }

    /** To be called before the rehearsal. */
    static Traces look() {
        return new Traces();
    }

    /** To be called after it. */
    void restore() throws IOException, InterruptedException {
        awaitThreads();
        removeMetrics(KafkaYammerMetrics.defaultRegistry());
        removeBeans();
        Configuration.setConfiguration(null);
        for (String name : SET_BY_CLASSES) {
            String value = System.getProperty(name);
            if (value != null) {
                properties.setProperty(name, value);
            }
        }
        System.setProperties(properties);
    }

    private void awaitThreads() throws IOException, InterruptedException {
        long began = System.nanoTime();
        List<Thread> left = newThreads();
        while (!left.isEmpty()) {
            if (System.nanoTime() - began > PATIENCE_NANOS) {
                throw new IOException("threads of the rehearsal still run: " + left);
            }
            Thread.sleep(GLANCE_MS);
            left = newThreads();
        }
    }

    private List<Thread> newThreads() {
        return Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> !threads.contains(thread))
                .filter(Traces::isOfServers)
                .toList();
    }

    /** The JVM has some of its own, in another group, and counters tick for all servers. */
    private static boolean isOfServers(Thread thread) {
        ThreadGroup group = thread.getThreadGroup();
        return group != null
                && group.getName().equals("main")
                && !thread.getName().startsWith(TICKS);
    }

    private static void removeMetrics(MetricsRegistry registry) throws IOException {
        for (Map.Entry<MetricName, Metric> left : registry.allMetrics().entrySet()) {
            if (!OF_CLASSES.contains(left.getKey().getType())) {
                registry.removeMetric(left.getKey());
                continue;
            }
            if (left.getValue() instanceof Timer timer) {
                timer.clear();
            }
            // There is no way to reset the others, and without clients they count nothing.
            if (!(left.getValue() instanceof Metered metered) || metered.count() != 0) {
                throw new IOException("the rehearsal is counted in " + left.getKey());
            }
        }
    }

    private void removeBeans() throws IOException {
        for (ObjectName name : beans()) {
            boolean isOfServer =
                    name.getDomain().startsWith("kafka.")
                            && !OF_CLASSES.contains(name.getKeyProperty("type"));
            if (isOfServer && !beans.contains(name)) {
                try {
                    ManagementFactory.getPlatformMBeanServer().unregisterMBean(name);
                } catch (JMException e) {
                    throw new IOException(name + " can't be removed", e);
                }
            }
        }
    }

    private static Set<ObjectName> beans() {
        return new HashSet<>(ManagementFactory.getPlatformMBeanServer().queryNames(null, null));
    }
}
