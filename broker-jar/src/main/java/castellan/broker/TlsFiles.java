package castellan.broker;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.common.config.SslConfigs;
import org.apache.kafka.common.security.auth.SslEngineFactory;
import org.apache.kafka.common.security.ssl.DefaultSslEngineFactory;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Key store and trust store of one set of settings, as last loaded, and for the listener
 * of clients with certificates the list of revoked ones.
 *
 * <p>Files that can't be loaded change nothing: the last good ones stay in use, and the
 * log says so once for each change. The reason may lie elsewhere, as when too many files
 * are open, so the same files are tried again after a while.
 */
final class TlsFiles {
    private static final Logger LOG = LoggerFactory.getLogger(TlsFiles.class);
    private static final String CLIENTS = "clients-ca.pem";
    /** Whoever revokes a certificate expects it to be refused within seconds. */
    private static final long RETRY_NANOS = TimeUnit.SECONDS.toNanos(5);

    private final Map<String, ?> configs;
    private final List<Path> files = new ArrayList<>();
    /** Of clients' certificates; null where no client shows one. */
    private final Path revoked;
    private volatile Loaded loaded;
    private volatile Failed failed;

    /** A factory and the times of the files it was built from. */
    private record Loaded(SslEngineFactory factory, List<FileTime> times) {}

    /** The times of files that could not be loaded, and when that was tried last. */
    private record Failed(List<FileTime> times, long nanoTime) {
        boolean isRecent() {
            return System.nanoTime() - nanoTime < RETRY_NANOS;
        }
    }

    TlsFiles(Map<String, ?> configs) {
        this.configs = configs;
        for (String name :
                List.of(
                        SslConfigs.SSL_KEYSTORE_LOCATION_CONFIG,
                        SslConfigs.SSL_TRUSTSTORE_LOCATION_CONFIG)) {
            if (configs.get(name) instanceof String file) {
                files.add(Path.of(file));
            }
        }
        revoked = revoked(configs);
        if (revoked != null) {
            files.add(revoked);
        }
        List<FileTime> times = times();
        loaded = new Loaded(build(), times);
    }

    /** The factory of the files as they are now. */
    SslEngineFactory factory() {
        // A stat or three a connection; the lock is taken only when a file has changed.
        return isSettled(times()) ? loaded.factory() : reload();
    }

    /** Whether files of these times are loaded, or could not be a moment ago. */
    private boolean isSettled(List<FileTime> times) {
        Failed last = failed;
        return times.equals(loaded.times())
                || last != null && times.equals(last.times()) && last.isRecent();
    }

    private synchronized SslEngineFactory reload() {
        // Taken before the files are read: a change in between is seen next time.
        List<FileTime> times = times();
        if (isSettled(times)) {
            return loaded.factory();
        }
        try {
            loaded = new Loaded(build(), times);
            failed = null;
            LOG.info("Loaded changed TLS files {}", files);
        } catch (RuntimeException e) {
            boolean isNews = failed == null || !times.equals(failed.times());
            failed = new Failed(times, System.nanoTime());
            if (isNews) {
                LOG.error("Changed TLS files {} can't be used, the old ones stay in use", files, e);
            }
        }
        return loaded.factory();
    }

    /** Beside the authority of clients' certificates, if that is whom this listener trusts. */
    private static Path revoked(Map<String, ?> configs) {
        return configs.get(SslConfigs.SSL_TRUSTSTORE_LOCATION_CONFIG) instanceof String file
                        && Path.of(file).endsWith(CLIENTS)
                ? Path.of(file).resolveSibling(RevokedSerials.FILE.getFileName())
                : null;
    }

    private SslEngineFactory build() {
        SslEngineFactory factory =
                revoked == null
                        ? new DefaultSslEngineFactory()
                        : new RevokingSslEngineFactory(revoked);
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
