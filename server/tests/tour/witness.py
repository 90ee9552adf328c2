"""What a cluster says to a client that shares no code with ours.

Reads how to log in from a file, as JSON, and prints what was asked for as JSON:
`everything` it has, what becomes of a `write` to a topic, what a `read` of it finds, or
what a member that will `stay` in a group was assigned.
"""

import json
import select
import sys
import time

from confluent_kafka import (
    OFFSET_BEGINNING,
    Consumer,
    ConsumerGroupTopicPartitions,
    Producer,
    TopicPartition,
)
from confluent_kafka.admin import (
    AclBindingFilter,
    AclOperation,
    AclPermissionType,
    AdminClient,
    ConfigResource,
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


def topics(admin):
    found = admin.list_topics(timeout=PATIENCE).topics
    names = sorted(name for name in found if not name.startswith("__"))
    resources = [ConfigResource(ConfigResource.Type.TOPIC, name) for name in names]
    asked = admin.describe_configs(resources, request_timeout=PATIENCE) if names else {}
    configs = {resource.name: future.result() for resource, future in asked.items()}
    return [
        {
            "name": name,
            "partitions": len(found[name].partitions),
            "replicas": len(found[name].partitions[0].replicas),
            "config": own(configs[name], 1),
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


def brokers(admin):
    """What each broker goes by, for the settings that customers may choose."""
    chosen = [
        "auto.create.topics.enable", "log.retention.ms", "min.insync.replicas",
        "num.io.threads",
    ]
    ids = sorted(admin.list_topics(timeout=PATIENCE).brokers)
    result = {}
    for it in ids:
        resource = ConfigResource(ConfigResource.Type.BROKER, str(it))
        (future,) = admin.describe_configs([resource], request_timeout=PATIENCE).values()
        entries = future.result()
        result[str(it)] = {name: entries[name].value for name in chosen}
    return result


def groups(admin):
    found = admin.list_consumer_groups(request_timeout=PATIENCE).result()
    result = {}
    for name in sorted(it.group_id for it in found.valid):
        asked = admin.list_consumer_group_offsets([ConsumerGroupTopicPartitions(name)])
        told = asked[name].result().topic_partitions
        result[name] = {f"{it.topic}-{it.partition}": it.offset for it in told}
    return result


def everything(login, _):
    admin = AdminClient(settings(login))
    return {
        "topics": topics(admin), "acls": acls(admin), "users": users(admin),
        "brokers": brokers(admin), "groups": groups(admin),
    }


def write(login, arguments):
    topic, value = arguments
    failed = []
    told = {"error_cb": lambda error: failed.append(str(error))}
    producer = Producer({**settings(login), **told, "message.timeout.ms": 10000})
    outcome = {}

    def delivered(error, message):
        outcome["error"] = str(error) if error else None
        outcome["offset"] = None if error else message.offset()

    producer.produce(topic, value, on_delivery=delivered)
    producer.flush(PATIENCE)
    if outcome.get("error"):
        outcome["error"] += " " + " ".join(failed)
    return outcome


def text(data):
    return None if data is None else data.decode()


def read(login, arguments):
    """So many messages, from the begin of every partition."""
    topic, count = arguments[0], int(arguments[1])
    consumer = Consumer(
        {**settings(login), "group.id": "witness", "enable.auto.commit": False}
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
    verbs = {"everything": everything, "write": write, "read": read, "stay": stay}
    verb = verbs[sys.argv[2]]
    print(json.dumps(verb(login, sys.argv[3:])))
