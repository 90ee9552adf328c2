//! `POST /api/config/kafka`.

use crate::auth::Changing;
use crate::body::SettingsBody;
use crate::error::Failure;
use crate::openapi::{About, Input};
use crate::state::Api;
use app::{Right, settings};
use axum::Json;
use axum::extract::State;
use serde_json::json;
use wire::customer::Message;

pub async fn handle(
    State(api): State<Api>,
    Changing(access): Changing,
    body: SettingsBody,
) -> Result<Json<Message>, Failure> {
    settings::update(&access, &api.app, body.ask()).await?;
    Ok(Json(done()))
}

fn done() -> Message {
    Message { message: "The settings are saved".into() }
}

pub fn about() -> About {
    About::new("Choose settings of all brokers")
        .needs(Right::ChangeInstances)
        .asks_kafka()
        .optional_body(&FIELDS, &json!({"log.retention.ms": 86_400_000}))
        .json("Saved; `configured` is false until all brokers have them", &done())
}

const fn number(name: &'static str) -> Input {
    Input::integer(name, "A number within Kafka's bounds")
}

const FIELDS: [Input; 8] = [
    Input::flag("auto.create.topics.enable", "Brokers are restarted one at a time for it"),
    number("log.retention.bytes").at_least(-1),
    number("log.retention.ms").at_least(-1),
    number("log.segment.bytes").at_least(1024 * 1024),
    number("message.max.bytes").at_least(0),
    number("min.insync.replicas").at_least(1),
    number("num.io.threads").at_least(1).at_most(256),
    number("num.network.threads").at_least(1).at_most(256),
];
