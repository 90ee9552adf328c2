package castellan.broker;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.PipedInputStream;
import java.io.PipedOutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** There is one way to become a broker, and everything else ends the JVM. */
class OrderTest {
    @Test
    void aWholeLineNamesTheServer() {
        byte[] line = "start /servers/7\n".getBytes(StandardCharsets.UTF_8);
        Order order = Order.listen(new ByteArrayInputStream(line), () -> {});
        assertEquals(Path.of("/servers/7"), order.directory());
    }

    @Test
    void everythingElseEnds() throws InterruptedException {
        // The agent died, before or in the middle of its order.
        ends("");
        ends("start /servers/7");
        ends("end\n");
        ends("start servers/7\n");
        ends("begin /servers/7\n");
        ends("x".repeat(10_000));
    }

    /** The agent may die at any time, also long before this JVM is ready. */
    @Test
    void theEndOfTheInputIsHeardWhileNobodyWaits() throws IOException, InterruptedException {
        CountDownLatch ended = new CountDownLatch(1);
        PipedOutputStream agent = new PipedOutputStream();
        Order.listen(new PipedInputStream(agent), ended::countDown);
        assertEquals(1, ended.getCount());
        agent.close();
        assertTrue(ended.await(20, TimeUnit.SECONDS));
    }

    private static void ends(String input) throws InterruptedException {
        CountDownLatch ended = new CountDownLatch(1);
        byte[] bytes = input.getBytes(StandardCharsets.UTF_8);
        Order.listen(new ByteArrayInputStream(bytes), ended::countDown);
        assertTrue(ended.await(20, TimeUnit.SECONDS), input);
    }
}
