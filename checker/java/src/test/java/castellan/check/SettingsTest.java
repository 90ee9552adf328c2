package castellan.check;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Properties;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SettingsTest {
    @TempDir Path directory;

    /** Settings of a run, with so many records a second. */
    static Settings settings(double rate) {
        Properties none = new Properties();
        return new Settings(none, "r1", "orders", 3, rate, 60, 1000, List.of("0:idempotent"));
    }

    @Test
    void theFileHoldsOursAndTheClientsAndIsRemoved() throws IOException {
        Path file = directory.resolve("settings");
        List<String> lines =
                List.of(
                        "bootstrap.servers=b1:9094",
                        "check.run=r1",
                        "check.topic=orders",
                        "check.partitions=3",
                        "check.rate=10.5",
                        "check.bytes=60",
                        "check.timeout.ms=1000",
                        "check.clients=0:idempotent,1:transactional");
        Files.write(file, lines);
        Settings settings = Settings.take(file);
        assertEquals(List.of("0:idempotent", "1:transactional"), settings.clients());
        assertEquals(10.5, settings.rate());
        Properties client = new Properties();
        client.setProperty("bootstrap.servers", "b1:9094");
        assertEquals(client, settings.client());
        assertFalse(Files.exists(file));
    }

    @Test
    void anUnknownKindOfClientIsRefused() {
        EventLog log = new EventLog(new ByteArrayOutputStream());
        assertThrows(
                IllegalArgumentException.class, () -> Writer.of(settings(1), log, "0:careless"));
    }
}
