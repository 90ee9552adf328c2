package castellan.check;

import org.apache.kafka.clients.producer.Producer;

/** One client: it is made ready first, then writes until it is told to stop. */
abstract class Writer {
    /** Between two tries of what did not work. */
    private static final long PAUSE_MS = 200;

    protected final Settings settings;
    protected final EventLog log;
    protected final Numbering numbering;
    protected final Pace pace;
    private Producer<byte[], byte[]> ready;
    private volatile boolean over;

    Writer(Settings settings, EventLog log, int client) {
        this.settings = settings;
        this.log = log;
        this.numbering = new Numbering(settings, log, client);
        this.pace = new Pace(settings.rate());
    }

    static Writer of(Settings settings, EventLog log, String client) {
        String[] parts = client.split(":");
        int number = Integer.parseInt(parts[0]);
        return switch (parts[1]) {
            case "idempotent" -> new Idempotent(settings, log, number);
            case "transactional" -> new Transactional(settings, log, number);
            default -> throw new IllegalArgumentException(client);
        };
    }

    /** A producer that has spoken with the cluster. */
    protected abstract Producer<byte[], byte[]> open();

    /** Writes until the end, or until the producer is of no more use. */
    protected abstract void write(Producer<byte[], byte[]> producer);

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
            try (Producer<byte[], byte[]> producer = ready == null ? open() : ready) {
                ready = null;
                write(producer);
            } catch (RuntimeException error) {
                log.error("trouble " + numbering.client + ' ' + log.now(), error);
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
