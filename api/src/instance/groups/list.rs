//! `GET /api/groups`.

use super::{document, example};
use crate::auth::Seeing;
use crate::error::Failure;
use crate::openapi::About;
use crate::state::Api;
use app::{Right, groups};
use axum::Json;
use axum::extract::State;
use wire::groups::Group;

pub async fn handle(
    State(api): State<Api>,
    Seeing(access): Seeing,
) -> Result<Json<Vec<Group>>, Failure> {
    let groups = groups::list(&access, &api.app).await?;
    Ok(Json(groups.iter().map(document).collect()))
}

pub fn about() -> About {
    About::new("List consumer groups, their members and their lag by partition")
        .needs(Right::SeeInstances)
        .asks_kafka()
        .list("Groups, by name", example())
}
