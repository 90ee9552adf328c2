package castellan.broker;

import java.util.List;
import java.util.Properties;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Leaves out metrics reporters that are not on the class path: a Kafka that an operator
 * unpacked has none, and metrics are no reason for a broker not to start.
 */
final class Reporters {
    private static final Logger LOG = LoggerFactory.getLogger(Reporters.class);

    private Reporters() {}

    static void leaveOutMissing(Properties properties) {
        for (String setting : List.of("metric.reporters", "kafka.metrics.reporters")) {
            String reporter = properties.getProperty(setting);
            if (reporter != null && !isThere(reporter)) {
                LOG.warn("Metrics are not served: {} is not among Kafka's jars", reporter);
                properties.remove(setting);
            }
        }
    }

    /** Whether a class is among the jars. It is not initialised. */
    static boolean isThere(String name) {
        try {
            Class.forName(name, false, Reporters.class.getClassLoader());
            return true;
        } catch (ClassNotFoundException | LinkageError e) {
            return false;
        }
    }
}
