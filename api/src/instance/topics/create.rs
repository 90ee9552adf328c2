//! `POST /api/topics`.

use super::{CREATING, document, example, example_config};
use crate::auth::Changing;
use crate::body::{Body, Fields};
use crate::error::Failure;
use crate::openapi::{About, Input};
use crate::state::Api;
use app::Right;
use app::topics::{self, NewTopic};
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use wire::topics::{CreateTopic, Topic};

pub async fn handle(
    State(api): State<Api>,
    Changing(access): Changing,
    body: Body,
) -> Result<(StatusCode, Json<Topic>), Failure> {
    let made = topics::create(&access, &api.app, body.ask(new_topic)).await?;
    let mut topic = document(&made.topic);
    if !made.is_shown {
        topic.status = CREATING.into();
    }
    Ok((StatusCode::CREATED, Json(topic)))
}

fn new_topic(fields: &mut Fields) -> NewTopic {
    NewTopic {
        name: fields.text("name"),
        partitions: fields.integer("partitions"),
        replicas: fields.integer("replicas"),
        config: fields.map("config"),
    }
}

pub fn about() -> About {
    let asked = CreateTopic {
        name: "payments".into(),
        partitions: Some(1),
        replicas: Some(1),
        config: Some(example_config()),
    };
    About::new("Make a topic")
        .needs(Right::ChangeInstances)
        .asks_kafka()
        .body(&FIELDS, &asked)
        .created_json("The topic is there", &Topic { name: "payments".into(), ..example() })
}

const FIELDS: [Input; 4] = [
    Input::text("name", "1 to 249 letters, digits, dots, underscores and hyphens")
        .required()
        .at_most(249)
        .like("^[A-Za-z0-9._-]+$"),
    Input::integer("partitions", "1 if not given").at_least(1).at_most(10_000),
    Input::integer("replicas", "At most as many as servers; 3 if not given, or all there are")
        .at_least(1)
        .at_most(1000),
    Input::map("config", "Kafka's settings of topics, by name"),
];
