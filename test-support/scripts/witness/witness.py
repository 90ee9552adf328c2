"""What a cluster says to a client that shares no code with ours.

Reads how to log in from a file, as JSON, and prints what was asked for as JSON:
`everything` it has, what becomes of a topic that it should `make` or of a `write` to one,
what a `read` of it finds, for a group if one is named, or what a member that will `stay`
in a group was assigned.
"""

import json
import select
import sys
import time

from confluent_kafka import (
    OFFSET_BEGINNING,
    Consumer,
    ConsumerGroupTopicPartitions,
    KafkaError,
    KafkaException,
    Producer,
    TopicPartition,
)
from confluent_kafka.admin import (
    AclBindingFilter,
    AclOperation,
    AclPermissionType,
    AdminClient,
    ConfigResource,
    NewTopic,
    ResourcePatternType,
    ResourceType,
)

PATIENCE = 20


def settings(login):
    return {
        "bootstrap.servers": login["brokers"],
        "security.protocol": "SASL_SSL",
        "sasl.mechanisms": "SCRAM-SHA-512",
        "sasl.username": login["username"],
        "sasl.password": login["password"],
        "ssl.ca.pem": login["ca"],
        "log_level": 0,
    }


def own(entries, source):
    """Those that were set there, as opposed to defaults."""
    return {name: it.value for name, it in sorted(entries.items()) if it.source == source}


def is_hidden(name):
    """Kafka's own topics, of which customers are not told."""
    return name.startswith("__")


def partitions(topic):
    return [
        {
            "partition": it.id, "leader": it.leader if it.leader >= 0 else None,
            "replicas": list(it.replicas), "in_sync": list(it.isrs),
        }
        for _, it in sorted(topic.partitions.items())
    ]


def topics(admin, found):
    names = sorted(name for name in found if not is_hidden(name))
    resources = [ConfigResource(ConfigResource.Type.TOPIC, name) for name in names]
    asked = admin.describe_configs(resources, request_timeout=PATIENCE) if names else {}
    configs = {resource.name: future.result() for resource, future in asked.items()}
    return [
        {
            "name": name,
            "partitions": len(found[name].partitions),
            "replicas": len(found[name].partitions[0].replicas),
            "config": own(configs[name], 1),
            "details": partitions(found[name]),
        }
        for name in names
    ]


def acls(admin):
    every = AclBindingFilter(
        ResourceType.ANY, None, ResourcePatternType.ANY, None, None,
        AclOperation.ANY, AclPermissionType.ANY,
    )
    found = admin.describe_acls(every, request_timeout=PATIENCE).result()
    return sorted(
        [
            it.principal, it.operation.name, it.restype.name, it.name,
            it.resource_pattern_type.name, it.permission_type.name, it.host,
        ]
        for it in found
    )


def users(admin):
    found = admin.describe_user_scram_credentials(request_timeout=PATIENCE).result()
    return {name: len(it.scram_credential_infos) for name, it in sorted(found.items())}


def brokers(admin, found):
    """What each broker goes by, for the settings that customers may choose."""
    chosen = [
        "auto.create.topics.enable", "log.retention.bytes", "log.retention.ms",
        "log.segment.bytes", "message.max.bytes", "min.insync.replicas",
        "num.io.threads", "num.network.threads",
    ]
    result = {}
    for it in sorted(found):
        resource = ConfigResource(ConfigResource.Type.BROKER, str(it))
        (future,) = admin.describe_configs([resource], request_timeout=PATIENCE).values()
        entries = future.result()
        result[str(it)] = {name: entries[name].value for name in chosen}
    return result


def groups(admin):
    found = admin.list_consumer_groups(request_timeout=PATIENCE).result()
    result = {}
    for name in sorted(it.group_id for it in found.valid):
        asked = admin.list_consumer_group_offsets(
            [ConsumerGroupTopicPartitions(name)], request_timeout=PATIENCE
        )
        told = asked[name].result().topic_partitions
        result[name] = {f"{it.topic}-{it.partition}": it.offset for it in told}
    return result


def everything(login, _):
    admin = AdminClient(settings(login))
    cluster = admin.list_topics(timeout=PATIENCE)
    return {
        "topics": topics(admin, cluster.topics),
        "hidden": sorted(name for name in cluster.topics if is_hidden(name)),
        "hosts": [[it.id, f"{it.host}:{it.port}"] for _, it in sorted(cluster.brokers.items())],
        "acls": acls(admin), "users": users(admin),
        "brokers": brokers(admin, cluster.brokers), "groups": groups(admin),
    }


def make(login, arguments):
    (name,) = arguments
    admin = AdminClient(settings(login))
    (asked,) = admin.create_topics([NewTopic(name, 1)], request_timeout=PATIENCE).values()
    try:
        asked.result()
    except KafkaException as error:
        return {"error": str(error)}
    return {"error": None}


def write(login, arguments):
    """Until it is written or can't be; whoever is not let in need not wait for the end."""
    topic, value = arguments
    failed = []
    told = {"error_cb": failed.append}
    producer = Producer({**settings(login), **told, "message.timeout.ms": 10000})
    outcome = {}

    def delivered(error, message):
        outcome["error"] = str(error) if error else None
        outcome["offset"] = None if error else message.offset()

    producer.produce(topic, value, on_delivery=delivered)
    deadline = time.monotonic() + PATIENCE
    while not outcome and time.monotonic() < deadline:
        producer.poll(0.1)
        if any(error.code() == KafkaError._AUTHENTICATION for error in failed):
            outcome.setdefault("error", "not let in")
    if not outcome:
        outcome["error"] = "neither written nor refused"
    if outcome["error"]:
        outcome["error"] += " " + " ".join(str(error) for error in failed)
    return outcome


def text(data):
    return None if data is None else data.decode()


def commit(consumer, topic, found):
    """What comes after the last message of each partition."""
    ends = {}
    for it in found:
        ends[it["partition"]] = max(ends.get(it["partition"], 0), it["offset"] + 1)
    places = [TopicPartition(topic, number, end) for number, end in sorted(ends.items())]
    for it in consumer.commit(offsets=places, asynchronous=False):
        if it.error:
            raise RuntimeError(f"{it} can't be committed: {it.error}")


def read(login, arguments):
    """So many messages, from the begin of every partition; a named group commits them."""
    topic, count, group = arguments[0], int(arguments[1]), (arguments[2:] or [None])[0]
    consumer = Consumer(
        {**settings(login), "group.id": group or "witness", "enable.auto.commit": False}
    )
    numbers = consumer.list_topics(topic, timeout=PATIENCE).topics[topic].partitions
    consumer.assign([TopicPartition(topic, number, OFFSET_BEGINNING) for number in numbers])
    found = []
    deadline = time.monotonic() + PATIENCE
    while len(found) < count and time.monotonic() < deadline:
        message = consumer.poll(0.2)
        if message is None or message.error():
            continue
        headers = [[name, text(value)] for name, value in message.headers() or []]
        found.append(
            {
                "partition": message.partition(), "offset": message.offset(),
                "key": text(message.key()), "value": text(message.value()),
                "headers": headers,
            }
        )
    if group:
        commit(consumer, topic, found)
    consumer.close()
    return sorted(found, key=lambda it: (it["partition"], it["offset"]))


def stay(login, arguments):
    """Joins a group, says what it was assigned, and reads until its input ends."""
    topic, group, protocol = arguments
    consumer = Consumer(
        {
            **settings(login), "group.id": group, "group.protocol": protocol,
            "client.id": "witness", "auto.offset.reset": "earliest",
            "auto.commit.interval.ms": 200,
        }
    )

    def assigned(_, partitions):
        if partitions:
            print(json.dumps(sorted(it.partition for it in partitions)), flush=True)

    consumer.subscribe([topic], on_assign=assigned)
    while not select.select([sys.stdin], [], [], 0)[0]:
        consumer.poll(0.2)
    consumer.close()


if __name__ == "__main__":
    with open(sys.argv[1], encoding="utf-8") as file:
        login = json.load(file)
    verbs = {
        "everything": everything, "make": make, "write": write, "read": read, "stay": stay,
    }
    verb = verbs[sys.argv[2]]
    print(json.dumps(verb(login, sys.argv[3:])))
