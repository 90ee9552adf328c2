package castellan.broker;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Properties;
import org.apache.log4j.Logger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The working directory of these tests is not the server's. */
class ServerPropertiesTest {
    @TempDir Path directory;

    @Test
    void pathsAreThoseOfTheServersDirectory() throws IOException {
        Path file = directory.resolve("server.properties");
        Files.write(
                file,
                List.of(
                        "node.id=1",
                        "log.dirs=disk/data,/other/disk",
                        "listener.name.ssl.ssl.keystore.location=tls/server.pem",
                        "listener.name.ssl.ssl.truststore.location=/etc/ca.pem",
                        "listener.name.ssl.ssl.keystore.type=PEM"));
        Properties read = ServerProperties.readAbsolute(file);
        assertEquals(directory + "/disk/data,/other/disk", read.getProperty("log.dirs"));
        String store = "listener.name.ssl.ssl.%s";
        assertEquals(
                directory + "/tls/server.pem",
                read.getProperty(store.formatted("keystore.location")));
        assertEquals("/etc/ca.pem", read.getProperty(store.formatted("truststore.location")));
        assertEquals("PEM", read.getProperty(store.formatted("keystore.type")));
        assertEquals("1", read.getProperty("node.id"));
    }

    /** Of reload4j; log4j 2 comes with real brokers alone. */
    @Test
    void anotherLoggingFileIsLoadedLate() throws IOException {
        Path file = directory.resolve("log4j.properties");
        Files.write(
                file,
                List.of(
                        "log4j.rootLogger=INFO, file",
                        "log4j.appender.file=org.apache.log4j.FileAppender",
                        "log4j.appender.file.File=server.log",
                        "log4j.appender.file.layout=org.apache.log4j.SimpleLayout"));
        Logger log = Logger.getLogger("a.b");
        Logging.loadReload4j(file);
        log.info("hello");
        assertEquals(List.of("INFO - hello"), Files.readAllLines(directory.resolve("server.log")));
        org.apache.log4j.LogManager.resetConfiguration();
    }

    @Test
    void aStateIsWholeAndNamesTheProcess() throws IOException {
        Path file = directory.resolve("warm");
        WarmState state = new WarmState(file);
        state.tell(WarmState.STARTING);
        state.tell(WarmState.READY);
        long pid = ProcessHandle.current().pid();
        assertEquals(pid + " ready\n", Files.readString(file));
        state.tellFailure("no port is free");
        assertEquals(pid + " failed no port is free\n", Files.readString(file));
    }
}
