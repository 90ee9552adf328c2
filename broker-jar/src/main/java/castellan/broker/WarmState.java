package castellan.broker;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;

/**
 * How far a JVM is that is warmed up, for the agent: a file with its pid and a word, and
 * after {@code failed} the reason.
 *
 * <p>It is whole at every moment. It need not outlive a power cut, since the JVM does not.
 */
final class WarmState {
    static final String FORMATTING = "formatting";
    static final String STARTING = "starting";
    static final String STOPPING = "stopping";
    /** It waits for its order. */
    static final String READY = "ready";
    /** It is its server's broker from here on, and nothing else. */
    static final String TAKEN = "taken";

    /** In a server's directory, where its agent looks. */
    static final Path OF_SERVER = Path.of("run", "warm");

    private static final String FAILED = "failed ";

    private final Path file;

    WarmState(Path file) {
        this.file = file;
    }

    void tell(String state) throws IOException {
        Path temporary = file.resolveSibling("." + file.getFileName() + ".new");
        Files.writeString(temporary, ProcessHandle.current().pid() + " " + state + "\n");
        Files.move(temporary, file, StandardCopyOption.ATOMIC_MOVE);
    }

    void tellFailure(String reason) {
        try {
            tell(FAILED + reason);
        } catch (IOException e) {
            // Whoever waits sees the process end.
        }
    }
}
