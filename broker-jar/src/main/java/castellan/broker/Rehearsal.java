package castellan.broker;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.Properties;
import java.util.stream.Stream;
import kafka.server.KafkaConfig;
import kafka.server.KafkaRaftServer;
import org.apache.kafka.common.utils.Time;

/**
 * Warms this JVM up: runs a throw-away server once, from formatting to its end, and then
 * waits for the order to run a real one. By then classes are loaded and code is compiled.
 *
 * <p>The server of the rehearsal has a directory of its own, listens on loopback alone,
 * reports to nobody and knows of no customer. {@link Traces} removes what it left in this
 * JVM. While it runs nothing is logged: the logging file that the JVM was started with says
 * so, and the server's own is loaded with the order.
 */
final class Rehearsal {
    /** In its directory, as in each server's. */
    private static final Path PROPERTIES = Path.of("server.properties");

    private static final Path REQUEST = Path.of("format.args");

    private final Path directory;
    private final WarmState state;

    Rehearsal(Path directory, WarmState state) {
        this.directory = directory;
        this.state = state;
    }

    /** Returns once this JVM belongs to a server, whose directory is {@link ServerDirectory}. */
    void awaitOrder(String loggingFile) throws IOException, InterruptedException {
        Order order = Order.listen(System.in, this::end);
        try {
            rehearse();
            state.tell(WarmState.READY);
        } catch (Throwable e) {
            state.tellFailure(Launcher.reason(e));
            throw e;
        }
        Path server = order.directory();
        new WarmState(server.resolve(WarmState.OF_SERVER)).tell(WarmState.TAKEN);
        ServerDirectory.change(server);
        Logging.load(server.resolve(loggingFile));
    }

    private void rehearse() throws IOException, InterruptedException {
        Traces before = Traces.look();
        ServerDirectory.change(directory);
        state.tell(WarmState.FORMATTING);
        Properties properties = ServerProperties.readAbsolute(directory.resolve(PROPERTIES));
        new Format(properties, Files.readAllLines(directory.resolve(REQUEST))).run();
        state.tell(WarmState.STARTING);
        KafkaRaftServer server =
                new KafkaRaftServer(KafkaConfig.fromProps(properties, false), Time.SYSTEM);
        server.startup();
        state.tell(WarmState.STOPPING);
        server.shutdown();
        server.awaitShutdown();
        before.restore();
        delete(directory);
        // Whoever waits shall take no memory that nobody needs.
        System.gc();
    }

    /** There is no order, and there will be none. Other threads may be in the middle of it. */
    private void end() {
        try {
            delete(directory);
        } catch (IOException e) {
            // The next one that is warmed here removes it.
        }
        Runtime.getRuntime().halt(0);
    }

    private static void delete(Path directory) throws IOException {
        if (Files.notExists(directory)) {
            return;
        }
        try (Stream<Path> all = Files.walk(directory)) {
            for (Path path : all.sorted(Comparator.reverseOrder()).toList()) {
                Files.deleteIfExists(path);
            }
        } catch (UncheckedIOException e) {
            throw e.getCause();
        }
    }
}
