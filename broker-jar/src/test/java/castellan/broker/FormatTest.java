package castellan.broker;

import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Properties;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What a request to format must say. A disk is formatted on real releases elsewhere. */
class FormatTest {
    @TempDir Path directory;

    @Test
    void aRequestWithoutTheClusterOrTheDirectoryIsRefused() {
        refused(List.of("-t", "cluster"), "--directory-id");
        refused(List.of("--directory-id", "disk"), "-t");
        refused(List.of("-t", "cluster", "--directory-id"), "--directory-id");
    }

    /** The file appears whole or not at all, so no temporary one is left beside it. */
    @Test
    void aDurableFileReplacesTheOneBefore() throws IOException {
        Path file = directory.resolve("FORMATTED");
        DurableFile.write(file, List.of("cluster.id=a"));
        DurableFile.write(file, List.of("cluster.id=b"));
        assertTrue(Files.readAllLines(file).equals(List.of("cluster.id=b")));
        try (var files = Files.list(directory)) {
            assertTrue(files.toList().equals(List.of(file)));
        }
    }

    @Test
    void reportersThatAreNotOnTheClassPathAreLeftOut() {
        Properties properties = new Properties();
        properties.setProperty("metric.reporters", "no.such.Reporter");
        properties.setProperty("kafka.metrics.reporters", FormatTest.class.getName());
        Reporters.leaveOutMissing(properties);
        assertTrue(properties.getProperty("metric.reporters") == null);
        assertTrue(properties.getProperty("kafka.metrics.reporters") != null);
    }

    private void refused(List<String> request, String missing) {
        Properties properties = new Properties();
        properties.setProperty("log.dirs", directory.toString());
        IOException refusal =
                assertThrows(IOException.class, () -> new Format(properties, request));
        assertTrue(refusal.getMessage().contains(missing), refusal.getMessage());
    }
}
