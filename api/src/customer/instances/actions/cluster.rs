//! `/api/instances/<ID>/actions/cluster-restart`, `cluster-stop` and `cluster-start`.

use super::{EXAMPLE, accepted};
use crate::about::About;
use crate::answer::Answer;
use crate::auth::Changing;
use app::actions::{self, How, Nodes, Power};
use app::{Asked, Right};
use axum::Json;
use wire::actions::Accepted;

const RESTART_BEGUN: &str = "The cluster is being restarted, one server at a time";

/// `POST /api/instances/<ID>/actions/cluster-restart`.
pub async fn restart(Changing(access, app): Changing) -> Answer<Accepted> {
    let all = Asked::given(Nodes::default());
    let action = actions::restart(&access, &app, How::Restart, all).await?;
    Ok(Json(accepted(Some(action), RESTART_BEGUN, RESTART_BEGUN)))
}

pub fn about_restart() -> About {
    let answer = accepted(Some(EXAMPLE), RESTART_BEGUN, RESTART_BEGUN);
    About::new("Restart the cluster, one server at a time")
        .needs(Right::ChangeInstances)
        .refuses("The cluster is stopped; start it with actions/cluster-start first")
        .json("Accepted; `configured` is false until it is done", &answer)
}

const STOP_BEGUN: &str = "The cluster is being stopped; its data and addresses stay";
const STOP_ALREADY: &str = "The cluster is stopped already, or is being stopped";

/// `POST /api/instances/<ID>/actions/cluster-stop`.
pub async fn stop(Changing(access, app): Changing) -> Answer<Accepted> {
    let action = actions::set_power(&access, &app, Power::Stop).await?;
    Ok(Json(accepted(action, STOP_BEGUN, STOP_ALREADY)))
}

pub fn about_stop() -> About {
    About::new("Stop every server of a cluster; data and addresses stay")
        .needs(Right::ChangeInstances)
        .refuses("Not available on shared plans")
        .json("Accepted; `ready` follows", &accepted(Some(EXAMPLE), STOP_BEGUN, STOP_ALREADY))
}

const START_BEGUN: &str = "The cluster is being started";
const START_ALREADY: &str = "The cluster is started already, or is being started";

/// `POST /api/instances/<ID>/actions/cluster-start`.
pub async fn start(Changing(access, app): Changing) -> Answer<Accepted> {
    let action = actions::set_power(&access, &app, Power::Start).await?;
    Ok(Json(accepted(action, START_BEGUN, START_ALREADY)))
}

pub fn about_start() -> About {
    About::new("Start a cluster that was stopped")
        .needs(Right::ChangeInstances)
        .refuses("Not available on shared plans")
        .json("Accepted; `ready` follows", &accepted(Some(EXAMPLE), START_BEGUN, START_ALREADY))
}
