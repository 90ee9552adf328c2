//! `PUT /api/topics/<name>`.

use super::{document, example, example_config};
use crate::auth::Changing;
use crate::body::{Body, Fields};
use crate::error::Failure;
use crate::openapi::{About, Input};
use crate::path::Named;
use crate::state::Api;
use app::Right;
use app::topics::{self, TopicUpdate};
use axum::Json;
use axum::extract::State;
use wire::topics::{Topic, UpdateTopic};

pub async fn handle(
    State(api): State<Api>,
    Changing(access): Changing,
    Named(name): Named,
    body: Body,
) -> Result<Json<Topic>, Failure> {
    let topic = topics::update(&access, &api.app, &name, body.ask(asked)).await?;
    Ok(Json(document(&topic)))
}

fn asked(fields: &mut Fields) -> TopicUpdate {
    TopicUpdate {
        partitions: fields.integer("partitions"),
        replicas: fields.integer("replicas"),
        config: fields.map("config"),
    }
}

pub fn about() -> About {
    let asked = UpdateTopic { partitions: Some(1), config: Some(example_config()) };
    About::new("Give a topic more partitions or other settings")
        .needs(Right::ChangeInstances)
        .asks_kafka()
        .or_not_found()
        .optional_body(&FIELDS, &asked)
        .json("The topic as it is now", &example())
}

const FIELDS: [Input; 2] = [
    Input::integer("partitions", "As many as now or more").at_least(1).at_most(10_000),
    Input::map("config", "All that is set for this topic from now on; unchanged if not given"),
];
