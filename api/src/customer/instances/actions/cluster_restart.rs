//! `POST /api/instances/<ID>/actions/cluster-restart`.

use super::{EXAMPLE, accepted};
use crate::auth::Changing;
use crate::error::Failure;
use crate::openapi::About;
use crate::state::Api;
use app::actions::{self, How, Nodes};
use app::{Asked, Right};
use axum::Json;
use axum::extract::State;
use wire::actions::Accepted;

const BEGUN: &str = "The cluster is being restarted, one server at a time";

pub async fn handle(
    State(api): State<Api>,
    Changing(access): Changing,
) -> Result<Json<Accepted>, Failure> {
    let all = Asked::given(Nodes::default());
    let action = actions::restart(&access, &api.app, How::Restart, all).await?;
    Ok(Json(accepted(Some(action), BEGUN, BEGUN)))
}

pub fn about() -> About {
    let answer = accepted(Some(EXAMPLE), BEGUN, BEGUN);
    About::new("Restart the cluster, one server at a time")
        .needs(Right::ChangeInstances)
        .refuses("The cluster is stopped; start it with actions/cluster-start first")
        .json("Accepted; `configured` is false until it is done", &answer)
}
