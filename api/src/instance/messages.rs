//! `/api/topics/<name>/messages`.

use crate::about::{About, Counts, Input};
use crate::answer::SecretJson;
use crate::auth::Changing;
use crate::body::{Body, Fields, Query};
use crate::path::Named;
use app::Right;
use app::messages::{self, Contents, MessageFields, ReadFields, WriteFields};
use axum::Json;
use axum::http::StatusCode;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use model::Timestamp;
use web::error::Failure;
use wire::messages::{BASE64, Header, Message, NewMessage, TEXT, WriteMessages, Written};

/// `GET /api/topics/<name>/messages`.
///
/// Whoever may not change things sees no contents: they are data, and not facts
/// about the cluster.
pub async fn read(
    Changing(access, app): Changing,
    Named(topic): Named,
    query: Query,
) -> Result<SecretJson<Vec<Message>>, Failure> {
    let messages = messages::read(&access, &app, &topic, query.ask(read_fields)).await?;
    Ok(SecretJson(messages.iter().map(document).collect()))
}

fn read_fields(fields: &mut Fields) -> ReadFields {
    ReadFields {
        partition: fields.integer("partition"),
        offset: fields.integer("offset"),
        from: fields.text("from"),
        limit: fields.integer("limit"),
    }
}

fn document(message: &messages::Message) -> Message {
    let (key, key_encoding) = text_or_base64(message.key.as_deref());
    let (value, value_encoding) = text_or_base64(message.value.as_deref());
    let header = |(name, value): &(Bytes, Option<Bytes>)| {
        let (value, encoding) = text_or_base64(value.as_deref());
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
fn text_or_base64(bytes: Option<&[u8]>) -> (Option<String>, String) {
    let Some(bytes) = bytes else { return (None, TEXT.into()) };
    match str::from_utf8(bytes) {
        Ok(text) => (Some(text.into()), TEXT.into()),
        Err(_) => (Some(STANDARD.encode(bytes)), BASE64.into()),
    }
}

pub fn about_read() -> About {
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

/// `POST /api/topics/<name>/messages`.
pub async fn write(
    Changing(access, app): Changing,
    Named(topic): Named,
    body: Body,
) -> Result<(StatusCode, Json<Vec<Written>>), Failure> {
    let places = messages::write(&access, &app, &topic, body.ask(write_fields)).await?;
    let place = |(partition, offset): (i32, i64)| Written { partition: partition.into(), offset };
    Ok((StatusCode::CREATED, Json(places.into_iter().map(place).collect())))
}

/// Several messages, or one.
fn write_fields(fields: &mut Fields) -> WriteFields {
    WriteFields { messages: fields.objects("messages", message), one: message(fields) }
}

fn message(fields: &mut Fields) -> MessageFields {
    let contents = |fields: &mut Fields, name, encoding| Contents {
        text: fields.contents(name),
        encoding: fields.text(encoding),
    };
    MessageFields {
        key: contents(fields, "key", "key_encoding"),
        value: contents(fields, "value", "value_encoding"),
        headers: fields.objects("headers", header).unwrap_or_default(),
        partition: fields.integer("partition"),
    }
}

fn header(fields: &mut Fields) -> (String, Contents) {
    let contents = Contents { text: fields.contents("value"), encoding: fields.text("encoding") };
    (fields.text("name").unwrap_or_default(), contents)
}

pub fn about_write() -> About {
    let message = NewMessage {
        key: Some("17".into()),
        value: Some("shipped".into()),
        partition: Some(0),
        ..NewMessage::default()
    };
    let asked = WriteMessages { message, ..WriteMessages::default() };
    About::new("Write a few messages: one, or several in messages")
        .needs(Right::ChangeInstances)
        .asks_kafka()
        .or_not_found()
        .body(&FIELDS, &asked)
        .at_least_one(&[
            ("messages", Counts::Given),
            ("key", Counts::EvenEmpty),
            ("value", Counts::EvenEmpty),
        ])
        .created_json(
            "Every replica in sync has them; where each is, in the order they came",
            &vec![Written { partition: 0, offset: 42 }],
        )
}

fn encodings() -> Vec<&'static str> {
    vec!["text", "base64"]
}

const HEADER: [Input; 3] = [
    Input::text("name", "Each once").required(),
    Input::text("value", "Its contents"),
    Input::text("encoding", "text if not given").one_of(encodings),
];

const MESSAGE: [Input; 6] = [
    Input::text(
        "key",
        "Messages of a key are in one partition, in their order; null is none (in a form, leave it out)",
    ),
    Input::text("key_encoding", "text if not given").one_of(encodings),
    Input::text(
        "value",
        "Null, beside a key, deletes what the key names in a compacted topic; an empty text does not",
    ),
    Input::text("value_encoding", "text if not given").one_of(encodings),
    Input::objects("headers", "Names and contents", &HEADER),
    Input::integer("partition", "That of the key if not given, or one after another")
        .at_least(0)
        .at_most(i32::MAX as i64),
];

const FIELDS: [Input; 7] = [
    Input::objects("messages", "At most 100, of 1 MiB together; nothing else beside it", &MESSAGE)
        .items(1, 100),
    MESSAGE[0],
    MESSAGE[1],
    MESSAGE[2],
    MESSAGE[3],
    MESSAGE[4],
    MESSAGE[5],
];
