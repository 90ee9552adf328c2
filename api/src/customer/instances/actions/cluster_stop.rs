//! `POST /api/instances/<ID>/actions/cluster-stop`.

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

const BEGUN: &str = "The cluster is being stopped; its data and addresses stay";
const ALREADY: &str = "The cluster is stopped already, or is being stopped";

pub async fn handle(
    State(api): State<Api>,
    Changing(access): Changing,
) -> Result<Json<Accepted>, Failure> {
    let action = actions::set_power(&access, &api.app, Power::Stop).await?;
    Ok(Json(accepted(action, BEGUN, ALREADY)))
}

pub fn about() -> About {
    About::new("Stop every server of a cluster; data and addresses stay")
        .needs(Right::ChangeInstances)
        .refuses("Not available on shared plans")
        .json("Accepted; `ready` follows", &accepted(Some(EXAMPLE), BEGUN, ALREADY))
}
