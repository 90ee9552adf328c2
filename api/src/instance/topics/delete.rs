//! `DELETE /api/topics/<name>`.

use crate::auth::Changing;
use crate::error::Failure;
use crate::openapi::About;
use crate::path::Named;
use crate::state::Api;
use app::{Right, topics};
use axum::Json;
use axum::extract::State;
use wire::customer::Message;

pub async fn handle(
    State(api): State<Api>,
    Changing(access): Changing,
    Named(name): Named,
) -> Result<Json<Message>, Failure> {
    topics::delete(&access, &api.app, &name).await?;
    Ok(Json(done()))
}

fn done() -> Message {
    Message { message: "The topic is deleted".into() }
}

pub fn about() -> About {
    About::new("Delete a topic and everything in it")
        .needs(Right::ChangeInstances)
        .asks_kafka()
        .or_not_found()
        .json("It is gone", &done())
}
