package org.apache.kafka.common.memory;

import java.nio.ByteBuffer;
import java.util.IdentityHashMap;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.kafka.common.metrics.Sensor;
import org.apache.kafka.common.network.InvalidReceiveException;

/**
 * The memory that requests are read into, instead of Kafka's class of the same name: our jar
 * comes first on the class path.
 *
 * <p>Kafka allocates a request's memory when the client has announced its length, and keeps
 * it until the request has arrived and was handled. Kafka's own pool is one for all listeners:
 * a client that announces requests and sends nothing empties it, and then neither other
 * clients nor the replication of other brokers is read. This one differs in three ways:
 *
 * <ul>
 *   <li>Each listener has {@code queued.max.request.bytes} of its own.
 *   <li>A small request always gets its memory and does not count. A connection has one
 *       request at a time, so {@code max.connections} bounds what they take together.
 *   <li>A listener without login takes small requests only, and of a size of its own.
 * </ul>
 */
public class SimpleMemoryPool implements MemoryPool {
    private static final int SMALL = Integer.getInteger("castellan.request.small.bytes", 64 << 10);
    private static final int WITHOUT_LOGIN =
            Integer.getInteger("castellan.request.plaintext.bytes", 32 << 10);

    /** Up to 4.0 the listener is {@code ListenerName(SSL)}, from 4.1 on {@code SSL}. */
    private static final Pattern NETWORK_THREAD =
            Pattern.compile(
                    ".*-network-thread-\\d+-(?:ListenerName\\()?(\\w+)\\)?-([A-Z_]+)-\\d+");

    private final long size;
    private final int largest;
    private final Map<String, Share> shares = new ConcurrentHashMap<>();
    private final ThreadLocal<Share> ofThread = ThreadLocal.withInitial(this::shareOfThread);
    /** By identity: two buffers with the same bytes are equal. */
    private final Map<ByteBuffer, Share> taken = new IdentityHashMap<>();

    /** Kafka's constructor. Allocation is not strict, and dry spells are not measured. */
    public SimpleMemoryPool(long sizeInBytes, int largestRequest, boolean strict, Sensor unused) {
        if (largestRequest <= 0 || largestRequest > sizeInBytes) {
            throw new IllegalArgumentException(
                    "a pool of " + sizeInBytes + " bytes for requests of " + largestRequest);
        }
        size = sizeInBytes;
        largest = largestRequest;
    }

    @Override
    public ByteBuffer tryAllocate(int bytes) {
        Share share = ofThread.get();
        if (bytes < 1 || bytes > share.largest) {
            throw new InvalidReceiveException(
                    "a request of " + bytes + " bytes where at most " + share.largest + " are taken");
        }
        if (bytes <= SMALL) {
            return ByteBuffer.allocate(bytes);
        }
        if (!share.take(bytes)) {
            return null;
        }
        ByteBuffer buffer = ByteBuffer.allocate(bytes);
        synchronized (taken) {
            taken.put(buffer, share);
        }
        return buffer;
    }

    @Override
    public void release(ByteBuffer buffer) {
        Share share;
        synchronized (taken) {
            share = taken.remove(buffer);
        }
        if (share != null) {
            share.left.addAndGet(buffer.capacity());
        }
    }

    @Override
    public long size() {
        return size;
    }

    @Override
    public long availableMemory() {
        return ofThread.get().left.get();
    }

    @Override
    public boolean isOutOfMemory() {
        return availableMemory() <= 0;
    }

    /** Kafka has no thread that serves two listeners, and names each after its own. */
    private Share shareOfThread() {
        Matcher name = NETWORK_THREAD.matcher(Thread.currentThread().getName());
        if (!name.matches()) {
            return new Share(size, largest);
        }
        int most = name.group(2).equals("PLAINTEXT") ? Math.min(WITHOUT_LOGIN, SMALL) : largest;
        return shares.computeIfAbsent(name.group(1), listener -> new Share(size, most));
    }

    /** What one listener has left. It goes below zero by at most one request. */
    private static final class Share {
        final AtomicLong left;
        final int largest;

        Share(long size, int largest) {
            left = new AtomicLong(size);
            this.largest = largest;
        }

        boolean take(int bytes) {
            long before = left.getAndUpdate(now -> now > 0 ? now - bytes : now);
            return before > 0;
        }
    }
}
