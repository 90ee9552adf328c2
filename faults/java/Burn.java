package castellan.faults;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** One core, for as long as there is a file {@code hold} in the directory. */
public final class Burn implements Runnable {
    private static final long LOOK = 10_000_000;

    private final Path directory;

    private Burn(Path directory) {
        this.directory = directory;
    }

    public static void agentmain(String directory) {
        Thread thread = new Thread(new Burn(Path.of(directory)), "castellan-fault-burn");
        thread.setDaemon(true);
        thread.start();
    }

    @Override
    public void run() {
        while (Files.exists(directory.resolve("hold"))) {
            long began = System.nanoTime();
            while (System.nanoTime() - began < LOOK) {
                Thread.onSpinWait();
            }
        }
        try {
            Files.createFile(directory.resolve("ended"));
        } catch (IOException e) {
            // Nobody waits for it any more.
        }
    }
}
