package castellan.broker;

import static castellan.broker.Internals.get;

import java.util.concurrent.CompletableFuture;
import kafka.server.KafkaRaftServer;
import org.apache.kafka.raft.QuorumState;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import scala.Option;

/**
 * Ends a wait for leave that nobody can give.
 *
 * <p>A broker that stops asks the controllers first, so that they move its leaders, and
 * Kafka waits five minutes for their answer. When a whole cluster stops, most controllers
 * may be gone before the last broker has its answer. Once there has been no quorum for
 * longer than any election takes, the broker goes on, and closes its logs as it would have.
 *
 * <p>From 4.0 on a controller that finds too few others for a vote follows the last leader
 * once more, for as long as it waits for a first answer. A leader counts only if that lasts.
 */
final class LeaveToStop implements Runnable {
    private static final Logger LOG = LoggerFactory.getLogger(LeaveToStop.class);
    private static final long GLANCE_MS = 500;
    /** Longer than a controller follows a leader that it hears nothing of. */
    private static final long HEARD_MS = 5_000;
    /** Longer than an election takes, and than it takes to be sure of a leader. */
    private static final long WITHOUT_QUORUM_MS = 15_000;

    private final KafkaRaftServer server;

    private LeaveToStop(KafkaRaftServer server) {
        this.server = server;
    }

    /** To be called when the broker begins to stop. */
    static void watch(KafkaRaftServer server) {
        Thread thread = new Thread(new LeaveToStop(server), "leave-to-stop");
        thread.setDaemon(true);
        thread.start();
    }

    @Override
    public void run() {
        try {
            Object broker = ((Option<?>) get(server, "broker")).getOrElse(() -> null);
            if (broker != null) {
                await((CompletableFuture<?>)
                        get(get(broker, "lifecycleManager"), "controlledShutdownFuture"));
            }
        } catch (ReflectiveOperationException | RuntimeException e) {
            // Kafka's own patience ends, too.
            LOG.warn("The quorum can't be watched while the broker stops", e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void await(CompletableFuture<?> leave)
            throws ReflectiveOperationException, InterruptedException {
        long heard = HEARD_MS;
        long without = 0;
        while (!leave.isDone()) {
            Thread.sleep(GLANCE_MS);
            heard = hasLeader() ? heard + GLANCE_MS : 0;
            without = heard >= HEARD_MS ? 0 : without + GLANCE_MS;
            // One that has just been elected may be there to stay.
            if (heard == 0 && without >= WITHOUT_QUORUM_MS && leave.complete(null)) {
                LOG.warn("There is no quorum to give leave to stop; stopping without");
            }
        }
    }

    /**
     * Whether there is a leader that is heard of. Who the client says the leader is does not
     * tell that: a voter that asks for votes, and an observer, name the last one they knew.
     */
    private boolean hasLeader() throws ReflectiveOperationException {
        Object client = get(get(get(server, "sharedServer"), "raftManager"), "client");
        QuorumState quorum = (QuorumState) get(client, "quorum");
        if (!quorum.isFollower()) {
            return quorum.isLeader();
        }
        try {
            return !quorum.followerStateOrThrow().hasFetchTimeoutExpired(System.currentTimeMillis());
        } catch (IllegalStateException e) {
            return false; // It has ceased to be one since.
        }
    }
}
