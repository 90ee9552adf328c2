package castellan.broker;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Properties;
import kafka.server.KafkaConfig;
import kafka.server.KafkaRaftServer;
import org.apache.kafka.common.utils.Time;

/**
 * Formats a disk if asked to, then runs a broker, in one JVM.
 *
 * <p>Arguments: the properties file, and the file that asks for formatting, which need not
 * exist, both in the server's directory. {@code disk/FORMATTED} there says that the disk was
 * formatted and is durable before the broker first starts, {@code run/started} holds the pid
 * of a broker that has started.
 *
 * <p>With these two the working directory is the server's, and the broker starts at once. Three
 * more, the directory of a rehearsal, the file of its state and the name of the server's
 * logging file, warm the JVM up first: {@link Rehearsal}.
 */
public final class Launcher {
    static final Path FORMATTED = Path.of("disk", "FORMATTED");
    private static final Path STARTED = Path.of("run", "started");

    /** Set when the JVM was told to end: what fails from then on is no failure to start. */
    private static volatile boolean stopping;

    private Launcher() {}

    /** A training broker has its trainer's pid here, and nobody else to end it. */
    private static final String TRAINER = "castellan.trainer";

    /** Exits with 1 and one line on standard error if the broker can't be run. */
    public static void main(String[] arguments) {
        try {
            if (arguments.length != 2 && arguments.length != 5) {
                throw new IOException(
                        "usage: Launcher PROPERTIES FORMAT_ARGUMENTS [REHEARSAL STATE LOGGING]");
            }
            endWith(Long.getLong(TRAINER));
            OldScramClients.letIn();
            if (arguments.length == 5) {
                WarmState state = new WarmState(Path.of(arguments[3]));
                new Rehearsal(Path.of(arguments[2]), state).awaitOrder(arguments[4]);
            }
            start(Path.of(arguments[0]), Path.of(arguments[1]));
        } catch (Throwable e) {
            if (stopping) {
                return;
            }
            System.err.println("The broker can't be started: " + reason(e));
            // Hooks are skipped: a broker that is half up may never finish its own.
            Runtime.getRuntime().halt(1);
        }
        System.exit(0);
    }

    private static void start(Path settings, Path formatArguments) throws IOException {
        Files.deleteIfExists(ServerDirectory.resolve(STARTED));
        Properties properties = ServerProperties.readAbsolute(ServerDirectory.resolve(settings));
        Path request = ServerDirectory.resolve(formatArguments);
        if (Files.notExists(ServerDirectory.resolve(FORMATTED))) {
            if (Files.notExists(request)) {
                throw new IOException("the disk is not formatted, and nobody asked for it");
            }
            new Format(properties, Files.readAllLines(request)).run();
        }
        run(properties);
    }

    private static void run(Properties properties) throws IOException {
        Reporters.leaveOutMissing(properties);
        KafkaRaftServer server =
                new KafkaRaftServer(KafkaConfig.fromProps(properties, false), Time.SYSTEM);
        Runnable stop =
                () -> {
                    stopping = true;
                    LeaveToStop.watch(server);
                    server.shutdown();
                };
        Runtime.getRuntime().addShutdownHook(new Thread(stop, "shutdown"));
        StalledConnections.watch(server);
        server.startup();
        DurableFile.write(
                ServerDirectory.resolve(STARTED),
                List.of(Long.toString(ProcessHandle.current().pid())));
        server.awaitShutdown();
    }

    /** Ends this JVM when that process is gone, however it went. */
    private static void endWith(Long pid) {
        if (pid == null) {
            return;
        }
        ProcessHandle.of(pid)
                .ifPresentOrElse(
                        process -> process.onExit().thenRun(() -> Runtime.getRuntime().halt(1)),
                        () -> Runtime.getRuntime().halt(1));
    }

    static String reason(Throwable error) {
        StringBuilder text = new StringBuilder(describe(error));
        for (Throwable cause = error.getCause(); cause != null; cause = cause.getCause()) {
            text.append(": ").append(describe(cause));
        }
        return text.toString().replaceAll("\\s+", " ");
    }

    private static String describe(Throwable error) {
        boolean bare = error.getMessage() == null || error instanceof java.nio.file.FileSystemException;
        return bare ? error.toString() : error.getMessage();
    }
}
