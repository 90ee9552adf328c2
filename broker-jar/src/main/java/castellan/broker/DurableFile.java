package castellan.broker;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.List;

/** A file that is there whole or not at all, also after a power cut. */
final class DurableFile {
    private DurableFile() {}

    static void write(Path file, List<String> lines) throws IOException {
        Path temporary = file.resolveSibling("." + file.getFileName() + ".new");
        Files.write(temporary, lines);
        sync(temporary, StandardOpenOption.WRITE);
        Files.move(temporary, file, StandardCopyOption.ATOMIC_MOVE);
        sync(file.toAbsolutePath().getParent(), StandardOpenOption.READ);
    }

    private static void sync(Path path, StandardOpenOption mode) throws IOException {
        try (FileChannel channel = FileChannel.open(path, mode)) {
            channel.force(true);
        }
    }
}
