//! `POST /api/topics/<name>/messages`.

use crate::auth::Changing;
use crate::body::{Body, Fields};
use crate::error::Failure;
use crate::openapi::{About, Counts, Input};
use crate::path::Named;
use crate::state::Api;
use app::Right;
use app::messages::{self, Contents, MessageFields, WriteFields};
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use wire::messages::{NewMessage, WriteMessages, Written};

pub async fn handle(
    State(api): State<Api>,
    Changing(access): Changing,
    Named(topic): Named,
    body: Body,
) -> Result<(StatusCode, Json<Vec<Written>>), Failure> {
    let places = messages::write(&access, &api.app, &topic, body.ask(fields)).await?;
    let place = |(partition, offset): (i32, i64)| Written { partition: partition.into(), offset };
    Ok((StatusCode::CREATED, Json(places.into_iter().map(place).collect())))
}

/// Several messages, or one.
fn fields(fields: &mut Fields) -> WriteFields {
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

pub fn about() -> About {
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
