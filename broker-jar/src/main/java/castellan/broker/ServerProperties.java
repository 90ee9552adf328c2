package castellan.broker;

import java.io.IOException;
import java.io.Reader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Properties;
import java.util.function.Predicate;
import java.util.stream.Collectors;

/** Settings of a server as they are rendered, with paths relative to its directory. */
final class ServerProperties {
    private static final List<String> DIRECTORIES =
            List.of("log.dir", "log.dirs", "metadata.log.dir");
    private static final List<String> STORES =
            List.of("ssl.keystore.location", "ssl.truststore.location");

    private ServerProperties() {}

    /** As the file has it. */
    static Properties read(Path file) throws IOException {
        Properties properties = new Properties();
        try (Reader reader = Files.newBufferedReader(file)) {
            properties.load(reader);
        }
        return properties;
    }

    /** The broker's own, which work in any directory. */
    static Properties readAbsolute(Path file) throws IOException {
        Properties properties = read(file);
        makeAbsolute(
                properties,
                name -> DIRECTORIES.contains(name) || STORES.stream().anyMatch(name::endsWith),
                file.toAbsolutePath().getParent());
        return properties;
    }

    /** Makes those paths, or lists of paths, independent of the working directory. */
    static void makeAbsolute(Properties properties, Predicate<String> isPath, Path directory) {
        for (String name : properties.stringPropertyNames()) {
            if (isPath.test(name)) {
                String paths =
                        Arrays.stream(properties.getProperty(name).split(","))
                                .map(path -> directory.resolve(path.strip()).toString())
                                .collect(Collectors.joining(","));
                properties.setProperty(name, paths);
            }
        }
    }
}
