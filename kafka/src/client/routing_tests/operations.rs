//! The operations that need more than one broker. Each tells its outcome as text.

use super::brokers::{Fake, IDS};
use crate::client::groups::{ResetTo, plan};
use crate::client::messages::{self, NewMessage, Producer, ReadMessages, WriteMessages};
use crate::client::{Admin, At, Error, Groups, Messages, TopicPartition};
use bytes::Bytes;
use model::Timestamp;
use std::collections::BTreeMap;
use std::fmt::Debug;
use std::pin::Pin;
use std::time::Duration;

pub type Outcome<'a> = Pin<Box<dyn Future<Output = Result<String, Error>> + Send + 'a>>;
pub type Operation = fn(&Fake) -> Outcome<'_>;

fn as_text(answer: Result<impl Debug, Error>) -> Result<String, Error> {
    answer.map(|it| format!("{it:?}"))
}

pub fn orders() -> Vec<TopicPartition> {
    IDS.map(|id| TopicPartition::new("orders", id - 1)).to_vec()
}

pub fn list_groups(fake: &Fake) -> Outcome<'_> {
    Box::pin(async move { as_text(fake.admin.list_groups(&fake.cluster).await) })
}

pub fn describe_group(fake: &Fake) -> Outcome<'_> {
    Box::pin(async move { as_text(fake.admin.describe_group(&fake.cluster, "billing").await) })
}

pub fn delete_group(fake: &Fake) -> Outcome<'_> {
    Box::pin(async move { as_text(fake.admin.delete_group(&fake.cluster, "billing").await) })
}

/// As people do it: where the logs begin and end, then what the group goes on with.
pub fn reset_group(fake: &Fake) -> Outcome<'_> {
    Box::pin(async move {
        let (to, orders) = (ResetTo::Shift(1), orders());
        let mut found = Vec::new();
        for place in to.needs() {
            found.push(fake.admin.find_offsets(&fake.cluster, &orders, place).await?);
        }
        let from = orders.into_iter().map(|at| (at, Some(0))).collect();
        let moved = match plan(to, &from, &found) {
            Ok(moved) => moved,
            Err(not) => return Ok(format!("{not:?}")),
        };
        let offsets: BTreeMap<_, _> = moved.into_iter().map(|it| (it.at, it.to)).collect();
        as_text(fake.admin.commit_offsets(&fake.cluster, "billing", &offsets).await)
    })
}

pub fn find_offsets(fake: &Fake) -> Outcome<'_> {
    Box::pin(
        async move { as_text(fake.admin.find_offsets(&fake.cluster, &orders(), At::Latest).await) },
    )
}

pub fn find_partitions(fake: &Fake) -> Outcome<'_> {
    let topics = ["orders".to_owned()];
    Box::pin(async move { as_text(fake.admin.find_partitions(&fake.cluster, &topics).await) })
}

pub fn read_first(fake: &Fake) -> Outcome<'_> {
    read(fake, messages::From::Earliest)
}

pub fn read_newest(fake: &Fake) -> Outcome<'_> {
    read(fake, messages::From::Newest)
}

fn read(fake: &Fake, from: messages::From) -> Outcome<'_> {
    let what = ReadMessages {
        topic: "orders".to_owned(),
        partition: None,
        from,
        count: 10,
        bytes: 1 << 16,
        within: Duration::from_secs(10),
    };
    Box::pin(async move {
        let read = fake.admin.read_messages(&fake.cluster, &what).await;
        let offsets = |found: Vec<messages::Message>| {
            found.iter().map(|it| (it.at.partition, it.offset)).collect::<Vec<_>>()
        };
        as_text(read.map(|found| found.map(offsets)))
    })
}

/// One message to each partition.
pub fn write(fake: &Fake) -> Outcome<'_> {
    write_within(fake, Duration::from_secs(10))
}

pub fn write_within(fake: &Fake, within: Duration) -> Outcome<'_> {
    let message = |id| NewMessage {
        value: Some(Bytes::from_static(b"v")),
        partition: Some(id - 1),
        ..NewMessage::default()
    };
    let messages = IDS.map(message).to_vec();
    let (topic, at) = ("orders".to_owned(), Timestamp::UNIX_EPOCH);
    let producer = Some(Producer { id: 7, epoch: 0 });
    let what = WriteMessages { topic, messages, at, turn: 0, within, producer };
    Box::pin(async move {
        let written = fake.admin.write_messages(&fake.cluster, &what).await;
        as_text(written.map(|written| written.map(|written| written.places)))
    })
}

/// One broker's, whichever answers first.
pub fn describe_log_dirs(fake: &Fake) -> Outcome<'_> {
    Box::pin(async move { as_text(fake.admin.describe_log_dirs(&fake.cluster).await) })
}
