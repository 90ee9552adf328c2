package castellan.broker;

import java.nio.file.Path;

/**
 * The directory of the server that this JVM works for. All our relative paths are in it.
 *
 * <p>It need not be the working directory: a JVM that is warmed up learns of its server
 * long after it has started.
 */
final class ServerDirectory {
    private static volatile Path directory = Path.of("").toAbsolutePath();

    private ServerDirectory() {}

    static Path resolve(Path path) {
        return directory.resolve(path);
    }

    /** Nothing of Kafka may run meanwhile. What was learnt of files elsewhere is forgotten. */
    static void change(Path to) {
        directory = to.toAbsolutePath();
        ReloadingSslEngineFactory.forget();
        ListenerPrincipalBuilder.forget();
    }
}
