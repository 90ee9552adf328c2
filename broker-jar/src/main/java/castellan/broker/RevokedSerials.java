package castellan.broker;

import java.io.IOException;
import java.math.BigInteger;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The serials of clients' certificates that are not to be let in, as the agent wrote
 * them: a number in hex on each line.
 *
 * <p>No file says that none is revoked: an agent of an earlier release writes none. A file
 * that can't be read changes nothing, and the log says so once for each change. The reason
 * may lie elsewhere, as when too many files are open, so every look tries it again.
 */
final class RevokedSerials {
    /** Beside the authorities that listeners trust, in the server's directory. */
    static final Path FILE = Path.of("tls", "revoked-serials");

    private static final Logger LOG = LoggerFactory.getLogger(RevokedSerials.class);
    /** Every request of a client with a certificate asks, and a look at the file costs more. */
    private static final long LOOK_NANOS = TimeUnit.SECONDS.toNanos(1);

    private final Path file;
    private volatile Set<BigInteger> serials = Set.of();
    private volatile long looked = System.nanoTime() - LOOK_NANOS;
    /** Of the file that was read last. */
    private FileTime time = FileTime.fromMillis(0);
    /** Of a file that can't be read, as the log has said; null if the last one could. */
    private FileTime unread;

    RevokedSerials(Path file) {
        this.file = file;
    }

    /** Whether it is revoked, as the file was a moment ago. */
    boolean contains(BigInteger serial) {
        if (System.nanoTime() - looked >= LOOK_NANOS) {
            look();
        }
        return serials.contains(serial);
    }

    private synchronized void look() {
        if (System.nanoTime() - looked < LOOK_NANOS) {
            return;
        }
        looked = System.nanoTime();
        // Taken before the file is read: a change in between is seen next time.
        FileTime now = timeOf(file);
        if (now.equals(time)) {
            return;
        }
        try {
            serials = read(file);
            time = now;
            unread = null;
        } catch (IOException e) {
            boolean isNews = !now.equals(unread);
            unread = now;
            if (isNews) {
                LOG.error(
                        "Changed file {} can't be read, what was revoked before stays so", file, e);
            }
        }
    }

    private static FileTime timeOf(Path file) {
        try {
            return Files.getLastModifiedTime(file);
        } catch (IOException e) {
            return FileTime.fromMillis(0);
        }
    }

    static Set<BigInteger> read(Path file) throws IOException {
        Set<BigInteger> serials = new HashSet<>();
        try {
            for (String line : Files.readAllLines(file)) {
                if (line.isBlank()) {
                    continue;
                }
                try {
                    serials.add(new BigInteger(line.strip(), 16));
                } catch (NumberFormatException e) {
                    // All others count none the less.
                    LOG.error("A line of {} is no serial", file);
                }
            }
        } catch (NoSuchFileException e) {
            return Set.of();
        }
        return serials;
    }
}
