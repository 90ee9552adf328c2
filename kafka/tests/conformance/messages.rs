//! What both clusters do with messages.

use crate::checks::TOPIC;
use crate::subject::{Subject, settled};
use bytes::Bytes;
use kafka::client::messages::{From, Message, NewMessage, ReadMessages, WriteMessages, Written};
use kafka::client::{At, TopicPartition};
use std::time::Duration;

/// What a producer wrote, for [`found_again`].
pub async fn all(subject: &dyn Subject) -> (WriteMessages, Vec<(i32, i64)>) {
    messages_are_written_and_read(subject).await;
    what_a_producer_sends_again_is_there_once(subject).await
}

/// Whoever leads a partition knows what was written to it while another led it.
pub async fn found_again(subject: &dyn Subject, what: &WriteMessages, expected: &[(i32, i64)]) {
    assert_eq!(send(subject, what).await, expected);
}

async fn send(subject: &dyn Subject, what: &WriteMessages) -> Vec<(i32, i64)> {
    let (admin, cluster) = (subject.admin().messages(), subject.cluster());
    let send = async || admin.write_messages(&cluster, what).await;
    places(settled(subject, "messages are written", send).await)
}

fn message(key: Option<&'static str>, value: &'static str, partition: Option<i32>) -> NewMessage {
    NewMessage {
        key: key.map(Bytes::from),
        value: Some(Bytes::from(value)),
        headers: vec![
            ("trace".into(), Some(Bytes::from_static(b"\xff\x00"))),
            ("nil".into(), None),
        ],
        partition,
    }
}

fn write(subject: &dyn Subject, topic: &str, messages: Vec<NewMessage>) -> WriteMessages {
    WriteMessages {
        topic: topic.to_owned(),
        messages,
        at: subject.now(),
        turn: 0,
        within: Duration::from_secs(8),
        producer: None,
    }
}

fn places(written: Option<Written>) -> Vec<(i32, i64)> {
    let Some(Written { places }) = written else { panic!("there is {TOPIC}") };
    places.into_iter().map(|(partition, offset)| (partition, offset.unwrap())).collect()
}

async fn messages_are_written_and_read(subject: &dyn Subject) {
    let (admin, cluster) = (subject.admin().messages(), subject.cluster());
    let groups = subject.admin().groups();
    let partitions: Vec<_> = (0..3).map(|number| TopicPartition::new(TOPIC, number)).collect();
    let ends = groups.find_offsets(&cluster, &partitions, At::Latest).await.unwrap();
    let write = |topic: &str, messages| write(subject, topic, messages);
    // Kafka's own producers put this key into partition 1 of 3.
    let messages = vec![
        message(Some("21"), "first", None),
        message(None, "second", Some(2)),
        message(Some("21"), "third", None),
    ];
    let what = write(TOPIC, messages);
    let written = settled(subject, "messages are written", async || {
        admin.write_messages(&cluster, &what).await
    })
    .await;
    let places = places(written);
    let (keyed, end) =
        (places[0].0, |number: i32| ends[&partitions[usize::try_from(number).unwrap()]].unwrap());
    assert_eq!(places, [(keyed, end(keyed)), (2, end(2)), (keyed, end(keyed) + 1)]);
    let read = async |topic: &str, partition, from, count| {
        let what = ReadMessages {
            topic: topic.to_owned(),
            partition,
            from,
            count,
            bytes: 1 << 20,
            within: Duration::from_secs(8),
        };
        settled(subject, "messages are read", async || admin.read_messages(&cluster, &what).await)
            .await
    };
    let values = |messages: Option<Vec<Message>>| {
        let text = |it: Message| String::from_utf8(it.value.unwrap().to_vec()).unwrap();
        messages.map(|all| all.into_iter().map(text).collect::<Vec<_>>().join(" "))
    };
    let newest = read(TOPIC, Some(keyed), From::Newest, 1).await.unwrap();
    assert_eq!(newest.len(), 1);
    assert_eq!(
        (newest[0].offset, newest[0].key.clone()),
        (end(keyed) + 1, Some(Bytes::from("21")))
    );
    assert_eq!(newest[0].timestamp, what.at.as_millisecond());
    let headers =
        [(Bytes::from("trace"), Some(Bytes::from_static(b"\xff\x00"))), (Bytes::from("nil"), None)];
    assert_eq!(newest[0].headers, headers);
    let from = From::Offset(end(keyed));
    assert_eq!(values(read(TOPIC, Some(keyed), from, 9).await).unwrap(), "first third");
    assert_eq!(values(read(TOPIC, Some(keyed), from, 1).await).unwrap(), "first");
    assert_eq!(values(read(TOPIC, Some(keyed), From::Earliest, 1).await).unwrap(), "one");
    assert_eq!(values(read(TOPIC, Some(2), From::Newest, 1).await).unwrap(), "second");
    assert_eq!(read(TOPIC, Some(2), From::Offset(i64::MAX), 9).await, Some(vec![]));
    let at = From::Time(what.at);
    let mut all: Vec<_> =
        values(read(TOPIC, None, at, 9).await).unwrap().split(' ').map(str::to_owned).collect();
    all.sort();
    assert_eq!(all, ["first", "second", "third"]);
    assert_eq!(read(TOPIC, Some(99), From::Newest, 1).await, None);
    assert_eq!(read("absent", None, From::Newest, 1).await, None);
    let absent = write("absent", vec![message(None, "x", None)]);
    assert_eq!(admin.write_messages(&cluster, &absent).await, Ok(None));
    let absent = write(TOPIC, vec![message(None, "x", Some(99))]);
    assert_eq!(admin.write_messages(&cluster, &absent).await, Ok(None));
}

async fn what_a_producer_sends_again_is_there_once(
    subject: &dyn Subject,
) -> (WriteMessages, Vec<(i32, i64)>) {
    let (admin, cluster) = (subject.admin().messages(), subject.cluster());
    let new = async || {
        settled(subject, "a producer is made", async || admin.new_producer(&cluster).await).await
    };
    let (ours, other) = (new().await, new().await);
    assert_ne!(ours, other);
    let one = |value, partition| message(None, value, Some(partition));
    let messages = vec![one("a", 0), one("b", 1), one("c", 2), one("d", 2)];
    let what = |producer| WriteMessages {
        producer: Some(producer),
        ..write(subject, TOPIC, messages.clone())
    };
    let first = send(subject, &what(ours)).await;
    assert_eq!(send(subject, &what(ours)).await, first);
    // What is for one partition is found without the rest.
    let mut part = what(ours);
    part.messages.remove(0);
    assert_eq!(send(subject, &part).await, first[1..]);
    let after = send(subject, &what(other)).await;
    let expected: Vec<_> =
        first.iter().zip([1, 1, 2, 2]).map(|((at, offset), by)| (*at, offset + by)).collect();
    assert_eq!(after, expected, "each is written once by each of the two");
    (what(ours), first)
}
