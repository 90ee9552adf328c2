//! `GET /api/instances/<ID>/actions`.

use super::{document, example};
use crate::auth::Seeing;
use crate::error::Failure;
use crate::openapi::About;
use crate::state::Api;
use app::{Right, actions};
use axum::Json;
use axum::extract::State;
use wire::actions::Action;

pub async fn handle(
    State(api): State<Api>,
    Seeing(access): Seeing,
) -> Result<Json<Vec<Action>>, Failure> {
    let actions = actions::list(&access, &api.app).await?;
    Ok(Json(actions.iter().map(document).collect()))
}

pub fn about() -> About {
    About::new("List what was asked of an instance")
        .needs(Right::SeeInstances)
        .refuses("Not available on shared plans")
        .list("The last hundred actions, newest first", example())
}
