//! `GET /api/groups/<name>`.

use super::{details, example};
use crate::auth::Seeing;
use crate::error::Failure;
use crate::openapi::About;
use crate::path::Named;
use crate::state::Api;
use app::{Right, groups};
use axum::Json;
use axum::extract::State;
use wire::groups::GroupDetails;

pub async fn handle(
    State(api): State<Api>,
    Seeing(access): Seeing,
    Named(name): Named,
) -> Result<Json<GroupDetails>, Failure> {
    let group = groups::read(&access, &api.app, &name).await?;
    Ok(Json(details(&group)))
}

pub fn about() -> About {
    About::new("Read a consumer group, its members and its lag by partition")
        .needs(Right::SeeInstances)
        .asks_kafka()
        .or_not_found()
        .json("The group", &example())
        .nullable(&["lag", "offset", "end"])
}
