package castellan.faults;

import java.io.IOException;
import java.lang.reflect.Field;
import java.nio.file.Files;
import java.nio.file.Path;
import sun.misc.Unsafe;

/**
 * As many bytes of memory as a file {@code hold} in the directory says, for as long as it is
 * there. They are outside of the heap, and of what the JVM allows for buffers: the program itself
 * has as much as before.
 */
public final class FillMemory implements Runnable {
    private static final long LOOK = 10;

    private final Path directory;
    private final Unsafe memory;
    private final long address;

    private FillMemory(Path directory, Unsafe memory, long address) {
        this.directory = directory;
        this.memory = memory;
        this.address = address;
    }

    /** On return every page is there. */
    public static void agentmain(String argument) throws IOException, ReflectiveOperationException {
        Path directory = Path.of(argument);
        long bytes = Long.parseLong(Files.readString(directory.resolve("hold")).trim());
        Field field = Unsafe.class.getDeclaredField("theUnsafe");
        field.setAccessible(true);
        Unsafe memory = (Unsafe) field.get(null);
        long address = memory.allocateMemory(bytes);
        memory.setMemory(address, bytes, (byte) 1);
        Runnable holder = new FillMemory(directory, memory, address);
        Thread thread = new Thread(holder, "castellan-fault-memory");
        thread.setDaemon(true);
        thread.start();
    }

    @Override
    public void run() {
        try {
            while (Files.exists(directory.resolve("hold"))) {
                Thread.sleep(LOOK);
            }
        } catch (InterruptedException e) {
            // Whoever interrupts it wants it to end.
        }
        memory.freeMemory(address);
        try {
            Files.createFile(directory.resolve("ended"));
        } catch (IOException e) {
            // Nobody waits for it any more.
        }
    }
}
