package castellan.broker;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.security.KeyStore;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import javax.net.ssl.SSLEngine;
import org.apache.kafka.common.config.SslConfigs;
import org.apache.kafka.common.security.auth.SslEngineFactory;
import org.apache.kafka.common.security.ssl.DefaultSslEngineFactory;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Kafka's own TLS engine factory, built again when one of its files changes.
 *
 * <p>Every new connection asks for an engine, on listeners as on the broker's own
 * clients, so a replaced certificate is used from the next connection on, without
 * a call or a restart. Files that can't be loaded change nothing: the last good
 * ones stay in use, and the log says so once for each change.
 */
public final class ReloadingSslEngineFactory implements SslEngineFactory {
    private static final Logger LOG = LoggerFactory.getLogger(ReloadingSslEngineFactory.class);

    private final List<Path> files = new ArrayList<>();
    private Map<String, ?> configs;
    private volatile Loaded loaded;

    /** A factory and the times of the files it was built from. */
    private record Loaded(SslEngineFactory factory, List<FileTime> times) {}

    @Override
    public void configure(Map<String, ?> configs) {
        this.configs = configs;
        for (String name :
                List.of(
                        SslConfigs.SSL_KEYSTORE_LOCATION_CONFIG,
                        SslConfigs.SSL_TRUSTSTORE_LOCATION_CONFIG)) {
            if (configs.get(name) instanceof String file) {
                files.add(Path.of(file));
            }
        }
        List<FileTime> times = times();
        loaded = new Loaded(build(), times);
    }

    @Override
    public SSLEngine createClientSslEngine(String peerHost, int peerPort, String identification) {
        return current().createClientSslEngine(peerHost, peerPort, identification);
    }

    @Override
    public SSLEngine createServerSslEngine(String peerHost, int peerPort) {
        return current().createServerSslEngine(peerHost, peerPort);
    }

    @Override
    public boolean shouldBeRebuilt(Map<String, Object> nextConfigs) {
        return current().shouldBeRebuilt(nextConfigs);
    }

    @Override
    public Set<String> reconfigurableConfigs() {
        return loaded.factory().reconfigurableConfigs();
    }

    @Override
    public KeyStore keystore() {
        return current().keystore();
    }

    @Override
    public KeyStore truststore() {
        return current().truststore();
    }

    @Override
    public void close() throws IOException {
        loaded.factory().close();
    }

    private SslEngineFactory current() {
        // Two stats a connection; the lock is taken only when a file has changed.
        Loaded now = loaded;
        return times().equals(now.times()) ? now.factory() : reload();
    }

    private synchronized SslEngineFactory reload() {
        Loaded old = loaded;
        // Taken before the files are read: a change in between is seen next time.
        List<FileTime> times = times();
        if (times.equals(old.times())) {
            return old.factory();
        }
        try {
            loaded = new Loaded(build(), times);
            LOG.info("Loaded changed TLS files {}", files);
        } catch (RuntimeException e) {
            loaded = new Loaded(old.factory(), times);
            LOG.error("Changed TLS files {} can't be used, the old ones stay in use", files, e);
        }
        return loaded.factory();
    }

    private SslEngineFactory build() {
        DefaultSslEngineFactory factory = new DefaultSslEngineFactory();
        factory.configure(configs);
        return factory;
    }

    private List<FileTime> times() {
        List<FileTime> times = new ArrayList<>(files.size());
        for (Path file : files) {
            try {
                times.add(Files.getLastModifiedTime(file));
            } catch (IOException e) {
                // A missing file is a change too; loading it will say what is wrong.
                times.add(FileTime.fromMillis(0));
            }
        }
        return times;
    }
}
