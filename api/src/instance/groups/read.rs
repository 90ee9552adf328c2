//! `GET /api/groups/<name>`.

use super::{document, example};
use crate::auth::Seeing;
use crate::error::Failure;
use crate::openapi::About;
use crate::path::Named;
use crate::state::Api;
use app::{Right, groups};
use axum::Json;
use axum::extract::State;
use wire::groups::Group;

pub async fn handle(
    State(api): State<Api>,
    Seeing(access): Seeing,
    Named(name): Named,
) -> Result<Json<Group>, Failure> {
    let group = groups::read(&access, &api.app, &name).await?;
    Ok(Json(document(&group)))
}

pub fn about() -> About {
    About::new("Read a consumer group, its members and its lag by partition")
        .needs(Right::SeeInstances)
        .asks_kafka()
        .or_not_found()
        .json("The group", &example())
}
