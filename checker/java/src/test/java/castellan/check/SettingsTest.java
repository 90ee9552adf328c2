package castellan.check;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SettingsTest {
    private static final List<String> LINES =
            List.of(
                    "bootstrap.servers=127.0.0.1:9094",
                    "sasl.jaas.config=a password",
                    "check.run=r1",
                    "check.topic=checked",
                    "check.partitions=3",
                    "check.rate=200.5",
                    "check.bytes=100",
                    "check.timeout.ms=60000",
                    "check.clients=idempotent,transactional");

    @TempDir Path directory;

    private Path file(List<String> lines) throws IOException {
        return Files.write(directory.resolve("settings"), lines);
    }

    @Test
    void oursAreReadAndTheRestIsTheClients() throws IOException {
        Settings settings = Settings.take(file(LINES));
        assertEquals(
                Set.of("bootstrap.servers", "sasl.jaas.config"),
                settings.client().stringPropertyNames());
        assertEquals("r1", settings.run());
        assertEquals("checked", settings.topic());
        assertEquals(3, settings.partitions());
        assertEquals(200.5, settings.rate());
        assertEquals(100, settings.bytes());
        assertEquals(60_000, settings.timeoutMs());
        assertEquals(List.of("idempotent", "transactional"), settings.clients());
    }

    @Test
    void thePasswordDoesNotStayOnDisk() throws IOException {
        Path file = file(LINES);
        Settings.take(file);
        assertFalse(Files.exists(file));
    }

    @Test
    void whatIsNoNumberIsRefused() throws IOException {
        Path file = file(LINES.stream().map(line -> line.replace("=3", "=three")).toList());
        assertThrows(NumberFormatException.class, () -> Settings.take(file));
        assertFalse(Files.exists(file), "the password does not stay then either");
    }

    /** One line is one event for the program that reads them. */
    @Test
    void anErrorIsOneLine() {
        String words = Told.words(new IllegalStateException("first\r\nsecond"));
        assertEquals("java.lang.IllegalStateException: first  second", words);
    }
}
