//! `DELETE /api/users/<name>`.

use crate::auth::Changing;
use crate::error::Failure;
use crate::openapi::About;
use crate::path::Named;
use crate::state::Api;
use app::{Right, users};
use axum::Json;
use axum::extract::State;
use wire::customer::Message;

pub async fn handle(
    State(api): State<Api>,
    Changing(access): Changing,
    Named(name): Named,
) -> Result<Json<Message>, Failure> {
    users::delete(&access, &api.app, &name).await?;
    Ok(Json(done()))
}

fn done() -> Message {
    Message { message: "The user and its rights are deleted".into() }
}

pub fn about() -> About {
    About::new("Delete a Kafka user and its rights")
        .needs(Right::ChangeInstances)
        .asks_kafka()
        .or_not_found()
        .json("It is gone", &done())
}
