package castellan.check;

import java.io.BufferedOutputStream;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;

/**
 * Writes what happens, one line each, with microseconds since the load began. Lines wait a moment
 * for each other; their times do not.
 */
final class EventLog {
    private static final long MOMENT_MS = 20;

    private final PrintStream out;
    private volatile long zero;

    /** To standard output. */
    EventLog() {
        this(new FileOutputStream(FileDescriptor.out));
    }

    EventLog(OutputStream to) {
        var buffer = new BufferedOutputStream(to, 1 << 16);
        out = new PrintStream(buffer, false, StandardCharsets.UTF_8);
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
        line(what + ' ' + oneLine(error));
    }

    void flush() {
        synchronized (out) {
            out.flush();
        }
    }

    static String oneLine(Throwable error) {
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
