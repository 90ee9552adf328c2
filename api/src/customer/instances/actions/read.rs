//! `GET /api/instances/<ID>/actions/<id>`.

use super::{document, example};
use crate::auth::Seeing;
use crate::error::Failure;
use crate::openapi::About;
use crate::path::ActionPath;
use crate::state::Api;
use app::{Right, actions};
use axum::Json;
use axum::extract::State;
use model::{ActionStep, Timestamp};
use wire::actions::{ActionDetails, Step};

pub async fn handle(
    State(api): State<Api>,
    Seeing(access): Seeing,
    ActionPath(id): ActionPath,
) -> Result<Json<ActionDetails>, Failure> {
    let (view, steps) = actions::read(&access, &api.app, id).await?;
    let step = |ActionStep { at, text }| Step { at, text };
    let steps = steps.into_iter().map(step).collect();
    Ok(Json(ActionDetails { action: document(&view), steps }))
}

pub fn about() -> About {
    let at = Timestamp::constant(1_794_744_003, 0);
    let text = "u7k2m9qa-02 is being restarted".into();
    let details = ActionDetails { action: example(), steps: vec![Step { at, text }] };
    About::new("Read one action with its steps")
        .needs(Right::SeeInstances)
        .refuses("Not available on shared plans")
        .json("Who asked, and what was done and waited for", &details)
}
