//! `POST /api/instances/<ID>/actions/cluster-start`.

use super::{EXAMPLE, accepted};
use crate::auth::Changing;
use crate::error::Failure;
use crate::openapi::About;
use crate::state::Api;
use app::Right;
use app::actions::{self, Power};
use axum::Json;
use axum::extract::State;
use wire::actions::Accepted;

const BEGUN: &str = "The cluster is being started";
const ALREADY: &str = "The cluster is started already, or is being started";

pub async fn handle(
    State(api): State<Api>,
    Changing(access): Changing,
) -> Result<Json<Accepted>, Failure> {
    let action = actions::set_power(&access, &api.app, Power::Start).await?;
    Ok(Json(accepted(action, BEGUN, ALREADY)))
}

pub fn about() -> About {
    About::new("Start a cluster that was stopped")
        .needs(Right::ChangeInstances)
        .refuses("Not available on shared plans")
        .json("Accepted; `ready` follows", &accepted(Some(EXAMPLE), BEGUN, ALREADY))
}
