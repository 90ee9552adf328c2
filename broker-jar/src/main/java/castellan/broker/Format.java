package castellan.broker;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.Properties;
import java.util.Set;
import kafka.tools.StorageTool;

/**
 * Formats the disk with Kafka's own tool, once.
 *
 * <p>The request has one argument a line: those of {@code StorageTool}, and our own
 * {@code --directory-id}, since the tool picks a random one for a server that joins later
 * and the control plane chose one before. A crash in between is repaired by running
 * again: the tool writes {@code meta.properties} last and leaves a disk that has it alone.
 */
final class Format {
    private static final String DIRECTORY_ID = "directory.id";
    private static final String CLUSTER_ID = "cluster.id";

    private static final Path PROPERTIES = Path.of("run", "format.properties");
    /** A setting may be a password. */
    private static final Set<PosixFilePermission> PRIVATE =
            PosixFilePermissions.fromString("rw-------");

    private final Properties properties;
    private final Path meta;
    private final List<String> arguments;
    private final String clusterId;
    private final String directoryId;
    private final boolean joins;

    /** Properties with absolute paths. */
    Format(Properties properties, List<String> request) throws IOException {
        this.properties = properties;
        meta = Path.of(properties.getProperty("log.dirs"), "meta.properties");
        arguments = new ArrayList<>(request);
        directoryId = take("--directory-id");
        clusterId = value("-t");
        joins = arguments.contains("--no-initial-controllers");
    }

    void run() throws IOException {
        format();
        Properties written = ServerProperties.read(meta);
        if (!clusterId.equals(written.getProperty(CLUSTER_ID))) {
            throw new IOException(
                    "the disk belongs to cluster " + written.getProperty(CLUSTER_ID));
        }
        if (!directoryId.equals(written.getProperty(DIRECTORY_ID))) {
            adopt(written.getProperty(DIRECTORY_ID));
        }
        DurableFile.write(
                ServerDirectory.resolve(Launcher.FORMATTED),
                List.of(CLUSTER_ID + "=" + clusterId, DIRECTORY_ID + "=" + directoryId));
    }

    private void format() throws IOException {
        // The tool reads a file, and the server's own has relative paths.
        Path file = ServerDirectory.resolve(PROPERTIES);
        Files.deleteIfExists(file);
        Files.createFile(file, PosixFilePermissions.asFileAttribute(PRIVATE));
        try (Writer writer = Files.newBufferedWriter(file)) {
            properties.store(writer, null);
        }
        List<String> all = new ArrayList<>(arguments);
        all.set(all.indexOf(value("-c")), file.toString());
        ByteArrayOutputStream output = new ByteArrayOutputStream();
        PrintStream printer = new PrintStream(output, true, StandardCharsets.UTF_8);
        int status = StorageTool.execute(all.toArray(String[]::new), printer);
        Files.delete(file);
        if (status != 0) {
            throw new IOException(
                    "formatting the disk failed: " + output.toString(StandardCharsets.UTF_8));
        }
    }

    /** Gives the disk the id that was chosen for it. Nothing else knows the tool's yet. */
    private void adopt(String made) throws IOException {
        if (!joins) {
            throw new IOException("the disk has directory id " + made + ", not " + directoryId);
        }
        List<String> lines =
                Files.readAllLines(meta).stream()
                        .map(line -> line.startsWith(DIRECTORY_ID + "=")
                                ? DIRECTORY_ID + "=" + directoryId
                                : line)
                        .toList();
        DurableFile.write(meta, lines);
    }

    private String value(String option) throws IOException {
        int at = arguments.indexOf(option);
        if (at < 0 || at + 1 >= arguments.size()) {
            throw new IOException("the request to format lacks " + option);
        }
        return arguments.get(at + 1);
    }

    private String take(String option) throws IOException {
        String value = value(option);
        int at = arguments.indexOf(option);
        arguments.subList(at, at + 2).clear();
        return value;
    }
}
