package castellan.check;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;

/**
 * Writes numbered records through Kafka's own client, and tells of each on standard output.
 *
 * <p>It says {@code ready} when its clients are, begins at {@code go} and ends at {@code stop}.
 * When its input ends without that, whoever started it is gone, and it goes at once.
 */
public final class Main {
    private static final int FAILED = 2;

    private Main() {}

    public static void main(String[] arguments) throws IOException, InterruptedException {
        EventLog log = new EventLog();
        var input = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        List<Writer> writers = List.of();
        try {
            Settings settings = Settings.take(Path.of(arguments[0]));
            writers = settings.clients().stream().map(it -> Writer.of(settings, log, it)).toList();
            writers.forEach(Writer::prepare);
        } catch (RuntimeException error) {
            Throwable cause = error.getCause() == null ? error : error.getCause();
            log.line(EventLog.oneLine(cause));
            log.flush();
            System.exit(FAILED);
        }
        log.line("ready");
        expect("go", input);
        log.begin();
        // Of a client that ends before its time nobody would hear otherwise.
        Thread.setDefaultUncaughtExceptionHandler(
                (thread, error) -> {
                    error.printStackTrace();
                    Runtime.getRuntime().halt(FAILED);
                });
        List<Thread> threads = writers.stream().map(it -> new Thread(it::run)).toList();
        threads.forEach(Thread::start);
        expect("stop", input);
        writers.forEach(Writer::stop);
        for (Thread thread : threads) {
            thread.join();
        }
        log.flush();
    }

    private static void expect(String line, BufferedReader input) throws IOException {
        if (!line.equals(input.readLine())) {
            Runtime.getRuntime().halt(FAILED);
        }
    }
}
