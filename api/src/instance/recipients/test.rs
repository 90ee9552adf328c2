//! `POST /api/alarms/recipients/<id>/test`.

use crate::auth::Changing;
use crate::error::Failure;
use crate::openapi::About;
use crate::path::RecipientPath;
use crate::state::Api;
use app::{Right, recipients};
use axum::Json;
use axum::extract::State;
use wire::customer::Message;

pub async fn handle(
    State(api): State<Api>,
    Changing(access): Changing,
    RecipientPath(id): RecipientPath,
) -> Result<Json<Message>, Failure> {
    recipients::test(&access, &api.app, id).await?;
    Ok(Json(done()))
}

fn done() -> Message {
    Message { message: "A test is on its way; last_status tells what became of it".into() }
}

pub fn about() -> About {
    About::new("Send a test").needs(Right::ChangeInstances).json("It is on its way", &done())
}
