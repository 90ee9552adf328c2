//! `DELETE /api/acls/<id>`.

use crate::auth::Changing;
use crate::error::Failure;
use crate::openapi::About;
use crate::path::AclPath;
use crate::state::Api;
use app::{Right, acls};
use axum::Json;
use axum::extract::State;
use wire::customer::Message;

pub async fn handle(
    State(api): State<Api>,
    Changing(access): Changing,
    AclPath(id): AclPath,
) -> Result<Json<Message>, Failure> {
    acls::delete(&access, &api.app, id).await?;
    Ok(Json(done()))
}

fn done() -> Message {
    Message { message: "The right is taken away".into() }
}

pub fn about() -> About {
    About::new("Take a right away")
        .needs(Right::ChangeInstances)
        .asks_kafka()
        .or_not_found()
        .json("It is gone", &done())
}
