package castellan.check;

import java.io.BufferedOutputStream;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;

/**
 * Tells what happens, one line each, with microseconds since the load began. Lines wait a moment
 * for each other; their times do not.
 */
final class Told {
    private static final long MOMENT_MS = 20;

    private final PrintStream out =
            new PrintStream(
                    new BufferedOutputStream(new FileOutputStream(FileDescriptor.out), 1 << 16),
                    false,
                    StandardCharsets.UTF_8);
    private volatile long zero;

    Told() {
        Thread flusher = new Thread(this::flushOften, "flush");
        flusher.setDaemon(true);
        flusher.start();
    }

    void begin() {
        zero = System.nanoTime();
    }

    long now() {
        return (System.nanoTime() - zero) / 1000;
    }

    void line(String line) {
        synchronized (out) {
            out.print(line + '\n');
        }
    }

    void error(String what, Throwable error) {
        line(what + ' ' + words(error));
    }

    void flush() {
        synchronized (out) {
            out.flush();
        }
    }

    static String words(Throwable error) {
        return String.valueOf(error).replace('\n', ' ').replace('\r', ' ');
    }

    private void flushOften() {
        try {
            while (true) {
                Thread.sleep(MOMENT_MS);
                flush();
            }
        } catch (InterruptedException ended) {
            Thread.currentThread().interrupt();
        }
    }
}
