package castellan.broker;

import static castellan.broker.Internals.get;

import java.io.IOException;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import kafka.server.KafkaRaftServer;
import org.apache.kafka.common.network.KafkaChannel;
import org.apache.kafka.common.network.NetworkReceive;
import org.apache.kafka.common.network.Selector;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import scala.Option;
import scala.collection.Iterable;
import scala.jdk.javaapi.CollectionConverters;

/**
 * Closes connections that don't log in, or don't send the request that they announced.
 *
 * <p>Kafka closes a connection after ten minutes without a byte, and one that sends a byte now
 * and then never. A listener has so many connections and so much memory for requests; clients
 * that hold both and do nothing would keep other brokers and customers out.
 *
 * <p>Only the reading half of a socket is shut from here. Its network thread then reads its
 * end and closes the connection as if the client had. Looks are counted and not time, so that
 * a JVM that was suspended does not take it for its clients' fault.
 */
final class StalledConnections implements Runnable {
    private static final Logger LOG = LoggerFactory.getLogger(StalledConnections.class);
    private static final long LOOK_MS = 1_000;
    private static final int LOOKS = 10;
    /** A request that is slower than this in so many looks is not on its way. */
    private static final int PROGRESS_BYTES = 64 << 10;

    private final KafkaRaftServer server;
    private Map<KafkaChannel, Wait> waits = new HashMap<>();

    /** What a connection has been busy with since a look: its login (null) or a request. */
    private record Wait(NetworkReceive request, int bytes, int looks) {}

    private StalledConnections(KafkaRaftServer server) {
        this.server = server;
    }

    static void watch(KafkaRaftServer server) {
        Thread thread = new Thread(new StalledConnections(server), "stalled-connections");
        thread.setDaemon(true);
        thread.start();
    }

    @Override
    public void run() {
        try {
            while (true) {
                Thread.sleep(LOOK_MS);
                lookAtAll();
            }
        } catch (ReflectiveOperationException e) {
            LOG.error("Connections that don't log in can't be closed early", e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** All lists belong to network threads, so reading one may fail in any way. */
    private void lookAtAll() throws ReflectiveOperationException {
        Map<KafkaChannel, Wait> now = new HashMap<>();
        try {
            for (Selector selector : selectors()) {
                look(selector, now);
            }
        } catch (RuntimeException e) {
            // What was known stays, and the next look is in a second.
            LOG.debug("Connections could not be looked at", e);
            waits.forEach(now::putIfAbsent);
        }
        waits = now;
    }

    private void look(Selector selector, Map<KafkaChannel, Wait> now) {
        for (KafkaChannel channel : selector.channels()) {
            if (channel == null) {
                // Closed while the list was copied.
                continue;
            }
            NetworkReceive request = channel.currentReceive();
            boolean loggedIn = channel.ready();
            if (loggedIn && (request == null || !request.memoryAllocated())) {
                continue;
            }
            Wait wait = next(waits.get(channel), loggedIn ? request : null);
            if (wait.looks < LOOKS) {
                now.put(channel, wait);
            } else {
                close(channel, loggedIn);
            }
        }
    }

    private static Wait next(Wait before, NetworkReceive request) {
        int bytes = request == null ? 0 : request.bytesRead();
        boolean goesOn =
                before != null
                        && before.request == request
                        && (request == null || bytes - before.bytes < PROGRESS_BYTES);
        return goesOn
                ? new Wait(request, before.bytes, before.looks + 1)
                : new Wait(request, bytes, 0);
    }

    private static void close(KafkaChannel channel, boolean loggedIn) {
        String what = loggedIn ? "the request that it announced" : "a login";
        LOG.info("Closing {}, which has not sent {} for {} s", channel.id(), what, LOOKS);
        try {
            ((SocketChannel) channel.selectionKey().channel()).shutdownInput();
        } catch (IOException | RuntimeException e) {
            LOG.debug("{} is closed already", channel.id(), e);
        }
    }

    /** Of every network thread, broker's and controller's; none before they have started. */
    private List<Selector> selectors() throws ReflectiveOperationException {
        List<Selector> all = new ArrayList<>();
        for (String role : List.of("broker", "controller")) {
            Object part = ((Option<?>) get(server, role)).getOrElse(() -> null);
            Object sockets = part == null ? null : get(part, "socketServer");
            if (sockets == null) {
                continue;
            }
            Map<?, ?> acceptors = (Map<?, ?>) get(sockets, "dataPlaneAcceptors");
            for (Object acceptor : acceptors.values()) {
                Iterable<?> processors = (Iterable<?>) get(acceptor, "processors");
                for (Object processor : CollectionConverters.asJava(processors)) {
                    all.add((Selector) get(processor, "selector"));
                }
            }
        }
        return all;
    }
}
