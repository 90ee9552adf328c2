//! `GET /api/topics/<name>/messages`.

use crate::answer::SecretJson;
use crate::auth::Changing;
use crate::body::{Fields, Query};
use crate::error::Failure;
use crate::openapi::{About, Input};
use crate::path::Named;
use crate::state::Api;
use app::Right;
use app::messages::{self, ReadFields};
use axum::extract::State;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use model::Timestamp;
use wire::messages::{BASE64, Header, Message, TEXT};

/// Whoever may not change things sees no contents: they are data, and not facts
/// about the cluster.
pub async fn handle(
    State(api): State<Api>,
    Changing(access): Changing,
    Named(topic): Named,
    query: Query,
) -> Result<SecretJson<Vec<Message>>, Failure> {
    let messages = messages::read(&access, &api.app, &topic, query.ask(fields)).await?;
    Ok(SecretJson(messages.iter().map(document).collect()))
}

fn fields(fields: &mut Fields) -> ReadFields {
    ReadFields {
        partition: fields.integer("partition"),
        offset: fields.integer("offset"),
        from: fields.text("from"),
        limit: fields.integer("limit"),
    }
}

fn document(message: &messages::Message) -> Message {
    let (key, key_encoding) = told(message.key.as_deref());
    let (value, value_encoding) = told(message.value.as_deref());
    let header = |(name, value): &(Bytes, Option<Bytes>)| {
        let (value, encoding) = told(value.as_deref());
        Header { name: String::from_utf8_lossy(name).into_owned(), value, encoding }
    };
    let omitted = message.omitted.map(|bytes| i64::try_from(bytes).unwrap_or(i64::MAX));
    let time = Some(message.timestamp).filter(|at| *at >= 0);
    Message {
        partition: message.at.partition.into(),
        offset: message.offset,
        timestamp: time.and_then(|at| Timestamp::from_millisecond(at).ok()),
        key,
        key_encoding,
        value,
        value_encoding,
        headers: message.headers.iter().map(header).collect(),
        omitted_bytes: omitted,
    }
}

/// Text where it is text.
fn told(bytes: Option<&[u8]>) -> (Option<String>, String) {
    let Some(bytes) = bytes else { return (None, TEXT.into()) };
    match str::from_utf8(bytes) {
        Ok(text) => (Some(text.into()), TEXT.into()),
        Err(_) => (Some(STANDARD.encode(bytes)), BASE64.into()),
    }
}

pub fn about() -> About {
    let header =
        Header { name: "trace".into(), value: Some("4bf92f35".into()), encoding: TEXT.into() };
    let message = Message {
        partition: 0,
        offset: 41,
        timestamp: Some(Timestamp::constant(1_794_744_000, 0)),
        key: Some("17".into()),
        key_encoding: TEXT.into(),
        value: Some(r#"{"id":17}"#.into()),
        value_encoding: TEXT.into(),
        headers: vec![header],
        omitted_bytes: Some(0),
    };
    About::new("Read a few messages of a topic; at most 1 MiB and for about 10 s")
        .needs(Right::ChangeInstances)
        .asks_kafka()
        .or_not_found()
        .query(&[
            Input::integer("partition", "All of them if not given").at_least(0),
            Input::integer("offset", "Begin there; needs the partition").at_least(0),
            Input::text("from", "Begin with a time such as 2026-11-15T12:00:00Z, or with earliest; newest if not given")
                .such_as("earliest"),
            Input::integer("limit", "How many; 10 if not given").at_least(1).at_most(1000),
        ])
        .list("Messages of committed transactions and of none, the oldest first", message)
}
