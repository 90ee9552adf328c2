package castellan.check;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.quota.ClientQuotaEntity;
import org.apache.kafka.common.quota.ClientQuotaFilter;

/**
 * Asks a cluster through Kafka's own admin client: what it says is held against what Castellan
 * says, and how long it takes against how long Castellan takes.
 */
public final class Ask {
    private Ask() {}

    public static void main(String[] arguments) throws Exception {
        Properties client = Settings.read(Path.of(arguments[0]));
        client.setProperty("client.id", "castellan-ask");
        List<String> words = List.of(arguments).subList(2, arguments.length);
        try (Admin admin = Admin.create(client)) {
            switch (arguments[1]) {
                case "quotas" -> quotas(admin);
                case "create-topics" -> createTopics(admin, words);
                case "commit-offsets" -> commitOffsets(admin, words);
                default -> throw new IllegalArgumentException(arguments[1]);
            }
        }
    }

    private static void quotas(Admin admin) throws InterruptedException, ExecutionException {
        Map<ClientQuotaEntity, Map<String, Double>> all =
                admin.describeClientQuotas(ClientQuotaFilter.all()).entities().get();
        List<String> lines = new ArrayList<>();
        all.forEach((entity, limits) -> lines.add(whose(entity) + " " + new TreeMap<>(limits)));
        lines.stream().sorted().forEach(System.out::println);
    }

    private static Map<String, String> whose(ClientQuotaEntity entity) {
        Map<String, String> whose = new TreeMap<>();
        entity.entries().forEach((kind, name) -> whose.put(kind, name == null ? "<default>" : name));
        return whose;
    }

    private static void createTopics(Admin admin, List<String> words)
            throws InterruptedException, ExecutionException {
        short replicas = Short.parseShort(words.get(3));
        long took =
                each(
                        words,
                        name ->
                                () ->
                                        admin.createTopics(List.of(new NewTopic(name, 1, replicas)))
                                                .all()
                                                .get());
        System.out.println(took);
    }

    private static void commitOffsets(Admin admin, List<String> words)
            throws InterruptedException, ExecutionException {
        TopicPartition first = new TopicPartition(words.get(3), 0);
        Map<TopicPartition, OffsetAndMetadata> begin = Map.of(first, new OffsetAndMetadata(0));
        each(words, name -> () -> admin.alterConsumerGroupOffsets(name, begin).all().get());
    }

    /** Does it for every name, so many at once; how many milliseconds that took. */
    private static long each(List<String> words, NameFunction call)
            throws InterruptedException, ExecutionException {
        int count = Integer.parseInt(words.get(1));
        ExecutorService threads = Executors.newFixedThreadPool(Integer.parseInt(words.get(2)));
        try {
            long began = System.nanoTime();
            List<Future<Void>> running = new ArrayList<>();
            for (int number = 0; number < count; number++) {
                running.add(threads.submit(call.of(words.get(0) + number)));
            }
            for (Future<Void> it : running) {
                it.get();
            }
            return (System.nanoTime() - began) / 1_000_000;
        } finally {
            threads.shutdown();
        }
    }

    /** What is to be done with a name. */
    private interface NameFunction {
        Callable<Void> of(String name);
    }
}
