//! `GET /api/groups`.

use super::{example, summary};
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
    Ok(Json(groups.iter().map(summary).collect()))
}

pub fn about() -> About {
    let details = example();
    let group = Group {
        name: details.name,
        state: details.state,
        protocol_type: details.protocol_type,
        members: 1,
        topics: details.topics,
        lag: details.lag,
    };
    About::new("List consumer groups and how far behind they are")
        .needs(Right::SeeInstances)
        .asks_kafka()
        .json("Groups, by name", &[group])
        .nullable(&["lag"])
}
