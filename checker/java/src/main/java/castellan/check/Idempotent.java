package castellan.check;

import org.apache.kafka.clients.producer.KafkaProducer;

/** Without transactions: every record stands for itself. */
final class Idempotent extends Writer {
    Idempotent(Settings settings, Told told, int client) {
        super(settings, told, client);
    }

    @Override
    protected KafkaProducer<byte[], byte[]> open() {
        var producer = settings.producer(null);
        producer.partitionsFor(settings.topic());
        return producer;
    }

    @Override
    protected void write(KafkaProducer<byte[], byte[]> producer) {
        while (!isOver()) {
            pace.await();
            numbering.send(producer, null);
        }
        // Everything is acknowledged or given up after that.
        producer.flush();
    }
}
