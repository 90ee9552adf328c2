package castellan.check;

import java.nio.charset.StandardCharsets;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;

/** Numbers one client's records, and tells of each that it was sent and what became of it. */
final class Numbering {
    private final Settings settings;
    private final EventLog log;
    final int client;
    private long next;

    Numbering(Settings settings, EventLog log, int client) {
        this.settings = settings;
        this.log = log;
        this.client = client;
    }

    /** Sends the next record; an error of the client itself is thrown on. */
    void send(Producer<byte[], byte[]> producer, Long transaction) {
        long number = next++;
        String name = client + " " + number;
        int partition = (int) ((number + client) % settings.partitions());
        var record =
                new ProducerRecord<byte[], byte[]>(settings.topic(), partition, null, value(number));
        String suffix = transaction == null ? "" : " " + transaction;
        log.line("sent " + name + ' ' + partition + ' ' + log.now() + suffix);
        try {
            producer.send(
                    record,
                    (metadata, error) -> {
                        long at = log.now();
                        if (error == null) {
                            log.line("acked " + name + ' ' + at + ' ' + metadata.offset());
                        } else {
                            log.error("failed " + name + ' ' + at, error);
                        }
                    });
        } catch (RuntimeException error) {
            log.error("failed " + name + ' ' + log.now(), error);
            throw error;
        }
    }

    private byte[] value(long number) {
        var text = new StringBuilder(settings.bytes());
        text.append("castellan-check ").append(settings.run()).append(' ');
        text.append(client).append(' ').append(number).append(' ');
        while (text.length() < settings.bytes()) {
            text.append('.');
        }
        return text.toString().getBytes(StandardCharsets.US_ASCII);
    }
}
