//! `DELETE /api/groups/<name>`.

use crate::auth::Changing;
use crate::error::Failure;
use crate::openapi::About;
use crate::path::Named;
use crate::state::Api;
use app::{Right, groups};
use axum::extract::State;
use axum::http::StatusCode;

pub async fn handle(
    State(api): State<Api>,
    Changing(access): Changing,
    Named(name): Named,
) -> Result<StatusCode, Failure> {
    groups::delete(&access, &api.app, &name).await?;
    Ok(StatusCode::NO_CONTENT)
}

pub fn about() -> About {
    About::new("Delete a consumer group that has no members, and what it has committed")
        .needs(Right::ChangeInstances)
        .asks_kafka()
        .or_not_found()
}
