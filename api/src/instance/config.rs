//! `/api/config/kafka`.

use crate::about::{About, Input};
use crate::answer::Answer;
use crate::auth::{Changing, Seeing};
use crate::body::{Fields, SettingsBody};
use app::Right;
use app::settings::{self, KNOWN, Kind, Values};
use axum::Json;
use serde_json::{Value, json};
use wire::customer::Message;
use wire::settings::Setting;

/// `GET /api/config/kafka`.
pub async fn list(Seeing(access, app): Seeing) -> Answer<Vec<Setting>> {
    let chosen = settings::list(&access, &app)?;
    let setting = |(name, text): (String, String)| Setting { value: value(&text), name };
    Ok(Json(chosen.into_iter().map(setting).collect()))
}

/// All of them are numbers or flags.
fn value(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|_| text.into())
}

pub fn about_list() -> About {
    let example = Setting { name: "log.retention.ms".into(), value: json!(86_400_000) };
    About::new("List the settings of all brokers that were chosen")
        .needs(Right::SeeInstances)
        .asks_kafka()
        .list("By name", example)
}

/// `POST /api/config/kafka`.
pub async fn update(Changing(access, app): Changing, body: SettingsBody) -> Answer<Message> {
    let left = settings::update(&access, &app, body.ask(chosen)).await?;
    Ok(Json(done(&left)))
}

/// Forms and properties have texts alone, which are read with their bounds. JSON has
/// numbers and flags of its own.
fn chosen(fields: &mut Fields) -> Values {
    let mut all = fields.everything();
    for known in &KNOWN {
        if fields.is_json_text(known.name) && all.remove(known.name).is_some() {
            let what = match known.kind {
                Kind::Flag => "must be true or false, without quotes",
                Kind::Number(_) => "must be a number, without quotes",
            };
            fields.refuse(known.name, what);
        } else if known.kind == Kind::Flag {
            read_flag(fields, &mut all, known.name);
        }
    }
    all
}

/// A form may have 1 for true, which is a number in JSON.
fn read_flag(fields: &mut Fields, all: &mut Values, name: &str) {
    if !matches!(all.get(name), Some(Some(_))) {
        return;
    }
    match fields.flag(name) {
        Some(flag) => all.insert(name.to_owned(), Some(flag.to_string())),
        None => all.remove(name),
    };
}

/// What was sent without a value is not given.
fn done(left: &[String]) -> Message {
    let message = match left {
        [] => "The settings are saved".to_owned(),
        some => format!(
            "Saved, but for what came without a value and stays as it is: {}",
            some.join(", ")
        ),
    };
    Message { message }
}

pub fn about_update() -> About {
    About::new("Choose settings of all brokers")
        .needs(Right::ChangeInstances)
        .asks_kafka()
        .optional_body(&FIELDS, &json!({"log.retention.ms": 86_400_000}))
        .json("Saved; `configured` is false while brokers are restarted for one", &done(&[]))
}

const fn threads(name: &'static str) -> Input {
    Input::integer(name, "Brokers are restarted one at a time for it").at_least(1).at_most(64)
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
    threads("num.io.threads"),
    threads("num.network.threads"),
];
