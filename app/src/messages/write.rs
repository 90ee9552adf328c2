//! Writing messages. They are written once or it is said that nobody knows: a
//! call whose answer got lost is not repeated.

use super::{MOST_BYTES, NewMessage};
use crate::resources::{Cluster, change, is_own};
use crate::{App, Asked, Error, InstanceAccess, Problems, Result};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use kafka::client::messages::{WriteMessages, Written};
use std::sync::atomic::{AtomicBool, Ordering};

const MOST: usize = 100;

/// What may be asked.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct WriteFields {
    pub messages: Vec<MessageFields>,
}

#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct MessageFields {
    pub key: Contents,
    pub value: Contents,
    pub headers: Vec<(String, Contents)>,
    pub partition: Option<i64>,
}

/// Text, or bytes that are no text, as `base64`.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Contents {
    pub text: Option<String>,
    pub encoding: Option<String>,
}

impl Contents {
    fn bytes(self) -> std::result::Result<Option<Bytes>, &'static str> {
        match (self.encoding.as_deref(), self.text) {
            (None | Some("text"), text) => Ok(text.map(Into::into)),
            (Some("base64"), None) => Ok(None),
            (Some("base64"), Some(text)) => match STANDARD.decode(text) {
                Ok(bytes) => Ok(Some(bytes.into())),
                Err(_) => Err("is not base64"),
            },
            (Some(_), _) => Err("has an encoding that is neither text nor base64"),
        }
    }
}

/// Partition and offset of each, in the order they came.
pub async fn write(
    access: &InstanceAccess,
    app: &App,
    topic: &str,
    asked: Asked<WriteFields>,
) -> Result<Vec<(i32, i64)>> {
    access.may_change()?;
    let (fields, problems) = asked.open()?;
    let messages = validate(fields, problems)?;
    let cluster = Cluster::open(access, app).await?;
    let topics = [topic.to_owned()];
    let there = cluster.ask(|admin, at| admin.groups().find_partitions(at, &topics)).await?;
    let Some(partitions) = there.get(topic).filter(|_| is_own(access, app, topic)) else {
        return Err(Error::NotFound);
    };
    let unknown = |number: &i32| !partitions.contains(number);
    if let Some(number) = messages.iter().filter_map(|it| it.partition).find(unknown) {
        let what = format!("topic {topic} has no partition {number}");
        return Err(Error::field("partition", what));
    }
    let mut turn = [0; 2];
    app.entropy().fill(&mut turn);
    let turn = usize::from(u16::from_le_bytes(turn));
    let what = WriteMessages { topic: topic.to_owned(), messages, at: app.now(), turn };
    let about = [("topic", topic.to_owned()), ("messages", what.messages.len().to_string())];
    change(access, app, "message.create", &about, send(&cluster, &what)).await
}

async fn send(cluster: &Cluster<'_>, what: &WriteMessages) -> Result<Vec<(i32, i64)>> {
    // Patience may end while a broker is being asked.
    let asking = &AtomicBool::new(false);
    let written = cluster.ask(|admin, at| async move {
        asking.store(true, Ordering::Relaxed);
        let written = admin.messages().write_messages(at, what).await;
        asking.store(false, Ordering::Relaxed);
        written
    });
    let written = written.await;
    if asking.load(Ordering::Relaxed) {
        return Err(Error::Refused(
            "No answer came in time, so the messages may or may not have been written".into(),
        ));
    }
    told(written?.ok_or(Error::NotFound)?)
}

fn told(written: Written) -> Result<Vec<(i32, i64)>> {
    let all = written.places.len();
    let perhaps = written.places.iter().filter(|it| it.as_ref().is_err_and(|it| it.perhaps));
    let (sure, perhaps) = (written.places.iter().filter(|it| it.is_ok()).count(), perhaps.count());
    let reason = written.places.iter().find_map(|it| it.as_ref().err());
    let Some(reason) = reason.map(|it| it.error.to_string()) else {
        return Ok(written.places.into_iter().filter_map(std::result::Result::ok).collect());
    };
    let surely_not = all - sure - perhaps;
    Err(Error::Refused(format!(
        "Of {all} messages {sure} were written, {perhaps} may or may not have been written, and {surely_not} were not: {reason}"
    )))
}

fn validate(fields: WriteFields, mut problems: Problems) -> Result<Vec<NewMessage>> {
    let many = fields.messages.len();
    if !(1..=MOST).contains(&many) {
        problems.add("messages", format!("must be 1 to {MOST}, not {many}"));
    }
    let mut messages = Vec::with_capacity(many.min(MOST));
    for fields in fields.messages.into_iter().take(MOST) {
        messages.push(message(fields, &mut problems));
    }
    let size = |message: &NewMessage| {
        let of = |bytes: &Option<Bytes>| bytes.as_ref().map_or(0, Bytes::len);
        let headers = message.headers.iter().map(|(name, value)| name.len() + of(value));
        of(&message.key) + of(&message.value) + headers.sum::<usize>()
    };
    if messages.iter().map(size).sum::<usize>() > MOST_BYTES {
        problems.add("messages", format!("must be at most {} MiB together", MOST_BYTES >> 20));
    }
    problems.finish()?;
    Ok(messages)
}

fn message(fields: MessageFields, problems: &mut Problems) -> NewMessage {
    let empty = fields.key.text.is_none() && fields.value.text.is_none();
    let key = problems.take("key", fields.key.bytes()).flatten();
    let value = problems.take("value", fields.value.bytes()).flatten();
    if empty {
        problems.add("value", "a message needs a value, or a key alone to delete what it names");
    }
    let mut headers: Vec<(String, Option<Bytes>)> = Vec::new();
    for (name, value) in fields.headers {
        if name.is_empty() {
            problems.add("headers", "has one without a name");
        } else if headers.iter().any(|(other, _)| *other == name) {
            problems.add("headers", format!("has {name} twice"));
        }
        headers.push((name, problems.take("headers", value.bytes()).flatten()));
    }
    let number = fields.partition.map(i32::try_from).transpose();
    let number = number.map_err(|_| "must be the number of a partition");
    let partition = problems.take("partition", number).flatten();
    NewMessage { key, value, headers, partition }
}
