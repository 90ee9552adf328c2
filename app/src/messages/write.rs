//! Writing messages: what is asked for, and whether that can be.

use super::send::send;
use super::{MOST_BYTES, NewMessage, find};
use crate::resources::{change, in_order};
use crate::{App, Asked, InstanceAccess, Problems, Result};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use kafka::client::messages::WriteMessages;

const MOST: usize = 100;
const MESSAGES: &str = "messages";

/// What a write has of the caller's patience, however late it comes. It is less than
/// any question has, so that it is told by then who has not answered.
const SHARE: u32 = 20;

/// What may be asked: several messages, or one.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct WriteFields {
    pub messages: Option<Vec<MessageFields>>,
    pub one: MessageFields,
}

#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct MessageFields {
    pub key: Contents,
    pub value: Contents,
    pub headers: Vec<(String, Contents)>,
    pub partition: Option<i64>,
}

impl MessageFields {
    /// The names of what it has.
    fn given(&self) -> Vec<&'static str> {
        let all = [
            ("key", self.key != Contents::default()),
            ("value", self.value != Contents::default()),
            ("headers", !self.headers.is_empty()),
            ("partition", self.partition.is_some()),
        ];
        all.into_iter().filter(|(_, given)| *given).map(|(name, _)| name).collect()
    }
}

/// Text, or bytes that are no text, as `base64`. An empty text is no bytes at all, and
/// none is null.
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
    let asked = asked.open().and_then(|(fields, problems)| {
        let several = fields.messages.is_some();
        Ok((several, validate(fields, problems)?))
    });
    let found = find(access, app, topic).await;
    let ((cluster, partitions), (several, messages)) = in_order(found, asked)?;
    let mut problems = Problems::default();
    for (number, message) in messages.iter().enumerate() {
        if let Some(partition) = message.partition.filter(|it| !partitions.contains(it)) {
            let what = format!("topic {topic} has no partition {partition}");
            each(&mut problems, several, number, |problems| problems.add("partition", what));
        }
    }
    problems.finish()?;
    let mut turn = [0; 2];
    app.entropy().fill(&mut turn);
    let turn = usize::from(u16::from_le_bytes(turn));
    let within = app.settings.broker_patience / SHARE;
    let (topic_name, at) = (topic.to_owned(), app.now());
    let what = WriteMessages { topic: topic_name, messages, at, turn, within, producer: None };
    let about = [("topic", topic.to_owned()), ("messages", what.messages.len().to_string())];
    change(access, app, "message.create", &about, send(&cluster, &what)).await
}

fn validate(fields: WriteFields, mut problems: Problems) -> Result<Vec<NewMessage>> {
    let WriteFields { messages, one } = fields;
    if messages.is_some() && !one.given().is_empty() {
        let beside = format!("can't be given beside {}", one.given().join(", "));
        problems.add(MESSAGES, beside);
    }
    let several = messages.is_some();
    if !several && problems.has(MESSAGES) {
        // They were sent and can't be read, so that there is nothing else to look at.
        return problems.finish().map(|()| Vec::new());
    }
    let asked = messages.unwrap_or_else(|| vec![one]);
    let many = asked.len();
    if !(1..=MOST).contains(&many) {
        problems.add(MESSAGES, format!("must be 1 to {MOST}, not {many}"));
    }
    let mut messages = Vec::with_capacity(many.min(MOST));
    for (number, fields) in asked.into_iter().take(MOST).enumerate() {
        let look = |problems: &mut Problems| message(fields, problems);
        messages.push(each(&mut problems, several, number, look));
    }
    let size = |message: &NewMessage| {
        let of = |bytes: &Option<Bytes>| bytes.as_ref().map_or(0, Bytes::len);
        let headers = message.headers.iter().map(|(name, value)| name.len() + of(value));
        of(&message.key) + of(&message.value) + headers.sum::<usize>()
    };
    if messages.iter().map(size).sum::<usize>() > MOST_BYTES {
        problems.add(MESSAGES, format!("must be at most {} MiB together", MOST_BYTES >> 20));
    }
    problems.finish()?;
    Ok(messages)
}

/// Looks at one message, which has a number only where several may be.
fn each<T>(
    problems: &mut Problems,
    several: bool,
    number: usize,
    look: impl FnOnce(&mut Problems) -> T,
) -> T {
    if several { problems.within(MESSAGES, number, look) } else { look(problems) }
}

fn message(fields: MessageFields, problems: &mut Problems) -> NewMessage {
    // What was sent and can't be read is not missing.
    let unread = problems.has("key") || problems.has("value");
    let empty = !unread && fields.key.text.is_none() && fields.value.text.is_none();
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
