package castellan.check;

import org.apache.kafka.clients.producer.KafkaProducer;

/** One client: it is made ready first, then writes until it is told to stop. */
abstract class Writer {
    /** Between two tries of what did not work. */
    private static final long PAUSE_MS = 200;

    protected final Settings settings;
    protected final Told told;
    protected final Numbering numbering;
    protected final Pace pace;
    private KafkaProducer<byte[], byte[]> ready;
    private volatile boolean over;

    Writer(Settings settings, Told told, int client) {
        this.settings = settings;
        this.told = told;
        this.numbering = new Numbering(settings, told, client);
        this.pace = new Pace(settings.rate());
    }

    static Writer of(Settings settings, Told told, String client) {
        String[] parts = client.split(":");
        int number = Integer.parseInt(parts[0]);
        return switch (parts[1]) {
            case "idempotent" -> new Idempotent(settings, told, number);
            case "transactional" -> new Transactional(settings, told, number);
            default -> throw new IllegalArgumentException(client);
        };
    }

    /** A producer that has spoken with the cluster. */
    protected abstract KafkaProducer<byte[], byte[]> open();

    /** Writes until the end, or until the producer is of no more use. */
    protected abstract void write(KafkaProducer<byte[], byte[]> producer);

    final void prepare() {
        ready = open();
    }

    final void stop() {
        over = true;
    }

    protected final boolean isOver() {
        return over;
    }

    final void run() {
        pace.forgive();
        while (!over) {
            try (KafkaProducer<byte[], byte[]> producer = ready == null ? open() : ready) {
                ready = null;
                write(producer);
            } catch (RuntimeException error) {
                told.error("trouble " + numbering.client + ' ' + told.now(), error);
                pause();
            }
        }
    }

    protected static void pause() {
        try {
            Thread.sleep(PAUSE_MS);
        } catch (InterruptedException ended) {
            Thread.currentThread().interrupt();
        }
    }
}
