package castellan.broker;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Properties;
import java.util.regex.Pattern;
import org.apache.log4j.LogManager;
import org.apache.log4j.PropertyConfigurator;
import org.apache.logging.log4j.core.LoggerContext;
import org.apache.logging.log4j.core.config.ConfigurationSource;
import org.apache.logging.log4j.core.config.Configurator;
import org.apache.logging.log4j.core.config.properties.PropertiesConfigurationFactory;

/**
 * Loads a server's logging file into a JVM that has logged elsewhere before, by the
 * library that this Kafka has.
 */
final class Logging {
    /** Names of files, for log4j 2 and for reload4j. */
    private static final Pattern FILES =
            Pattern.compile(
                    "appender\\.[^.]+\\.(fileName|filePattern)|log4j\\.appender\\.[^.]+\\.File");

    private Logging() {}

    static void load(Path file) throws IOException {
        if (Reporters.isThere("org.apache.logging.log4j.core.LoggerContext")) {
            loadLog4j2(file);
        } else {
            loadReload4j(file);
        }
    }

    private static void loadLog4j2(Path file) throws IOException {
        Log4j2.load(settings(file));
        System.setProperty("log4j2.configurationFile", file.toAbsolutePath().toString());
    }

    static void loadReload4j(Path file) throws IOException {
        Reload4j.load(settings(file));
        System.setProperty("log4j.configuration", file.toUri().toString());
    }

    /** Files named in it are the server's, wherever this JVM runs. */
    private static Properties settings(Path file) throws IOException {
        Properties settings = ServerProperties.read(file);
        Path directory = file.toAbsolutePath().getParent();
        ServerProperties.makeAbsolute(settings, name -> FILES.matcher(name).matches(), directory);
        return settings;
    }

    /** A class of its own: the other library may not be there. */
    private static final class Log4j2 {
        static void load(Properties settings) throws IOException {
            ByteArrayOutputStream text = new ByteArrayOutputStream();
            settings.store(text, null);
            ByteArrayInputStream input = new ByteArrayInputStream(text.toByteArray());
            LoggerContext context = LoggerContext.getContext(false);
            Configurator.reconfigure(
                    new PropertiesConfigurationFactory()
                            .getConfiguration(context, new ConfigurationSource(input)));
        }
    }

    private static final class Reload4j {
        static void load(Properties settings) {
            LogManager.resetConfiguration();
            PropertyConfigurator.configure(settings);
        }
    }
}
