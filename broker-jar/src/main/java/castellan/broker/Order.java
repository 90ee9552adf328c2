package castellan.broker;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;

/**
 * The one order that a warm JVM waits for, a line of its input: {@code start} with the
 * absolute directory of a server. There is no other way for it to become a broker.
 *
 * <p>Everything else ends it, above all the end of its input: its agent has died. That is
 * heard at any time, also while it still rehearses.
 */
final class Order implements Runnable {
    private static final String START = "start ";
    /** Longer than any path. */
    private static final int LONGEST = 8192;

    private final InputStream input;
    private final Runnable end;
    private final CompletableFuture<Path> directory = new CompletableFuture<>();

    private Order(InputStream input, Runnable end) {
        this.input = input;
        this.end = end;
    }

    /** Listens from now on. */
    static Order listen(InputStream input, Runnable end) {
        Order order = new Order(input, end);
        Thread thread = new Thread(order, "order");
        thread.setDaemon(true);
        thread.start();
        return order;
    }

    /** Waits for it. */
    Path directory() {
        return directory.join();
    }

    @Override
    public void run() {
        Path ordered = null;
        // Closed, the descriptor of standard input is one of /dev/null, as in a broker that
        // was started cold.
        try (input) {
            ordered = parse(line());
        } catch (IOException e) {
            // As good as its end.
        }
        if (ordered == null) {
            end.run();
        } else {
            directory.complete(ordered);
        }
    }

    /** Null unless it is whole: half a line is what an agent left that died. */
    private String line() throws IOException {
        ByteArrayOutputStream line = new ByteArrayOutputStream();
        while (line.size() < LONGEST) {
            int next = input.read();
            if (next < 0) {
                return null;
            }
            if (next == '\n') {
                return line.toString(StandardCharsets.UTF_8);
            }
            line.write(next);
        }
        return null;
    }

    private static Path parse(String line) {
        if (line == null || !line.startsWith(START)) {
            return null;
        }
        Path directory = Path.of(line.substring(START.length()));
        return directory.isAbsolute() ? directory : null;
    }
}
