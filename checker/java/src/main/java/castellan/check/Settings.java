package castellan.check;

import java.io.IOException;
import java.io.Reader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Properties;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/** What is to be written, and how the cluster is reached: the file that Main is given. */
record Settings(
        Properties client,
        String run,
        String topic,
        int partitions,
        double rate,
        int bytes,
        int timeoutMs,
        List<String> clients) {

    private static final String OURS = "check.";

    /** So long a coordinator waits for what it has written itself, and whoever ends a
     * transaction with it; see TRANSACTION of the other clients. */
    private static final int TRANSACTION_MS = 60_000;

    /** Reads a file and removes it: whoever is killed leaves no password behind. */
    static Properties read(Path file) throws IOException {
        Properties all = new Properties();
        try (Reader reader = Files.newBufferedReader(file)) {
            all.load(reader);
        }
        Files.delete(file);
        return all;
    }

    static Settings take(Path file) throws IOException {
        Properties all = read(file);
        Properties client = new Properties();
        all.stringPropertyNames().stream()
                .filter(name -> !name.startsWith(OURS))
                .forEach(name -> client.setProperty(name, all.getProperty(name)));
        return new Settings(
                client,
                all.getProperty("check.run"),
                all.getProperty("check.topic"),
                Integer.parseInt(all.getProperty("check.partitions")),
                Double.parseDouble(all.getProperty("check.rate")),
                Integer.parseInt(all.getProperty("check.bytes")),
                Integer.parseInt(all.getProperty("check.timeout.ms")),
                Arrays.asList(all.getProperty("check.clients").split(",")));
    }

    /** A producer that loses nothing it is told of. */
    Producer<byte[], byte[]> producer(String transactionalId) {
        Properties properties = new Properties();
        properties.putAll(client);
        properties.setProperty("client.id", "castellan-check");
        properties.setProperty("enable.idempotence", "true");
        properties.setProperty("acks", "all");
        // One request must fit into the time of a delivery.
        int request = Math.min(30_000, timeoutMs / 2);
        properties.setProperty("request.timeout.ms", Integer.toString(request));
        properties.setProperty("delivery.timeout.ms", Integer.toString(timeoutMs));
        properties.setProperty("max.block.ms", Integer.toString(timeoutMs));
        if (transactionalId != null) {
            properties.setProperty("transactional.id", transactionalId);
            int transaction = Math.min(TRANSACTION_MS, timeoutMs);
            properties.setProperty("transaction.timeout.ms", Integer.toString(transaction));
        }
        return new KafkaProducer<>(properties, new ByteArraySerializer(), new ByteArraySerializer());
    }
}
