//! `/api/instances/<ID>/actions/restart`, `reboot`, `stop` and `start`: of the brokers of servers.

use super::{EXAMPLE, FIELDS, accepted, example_nodes, nodes};
use crate::about::About;
use crate::answer::Answer;
use crate::auth::Changing;
use crate::body::Body;
use app::Right;
use app::actions::{self, How};
use axum::Json;
use wire::actions::Accepted;

const RESTART_BEGUN: &str = "Brokers are being restarted one at a time";

/// `POST /api/instances/<ID>/actions/restart`.
pub async fn restart(Changing(access, app): Changing, body: Body) -> Answer<Accepted> {
    let action = actions::restart(&access, &app, How::Restart, body.ask(nodes)).await?;
    Ok(Json(accepted(Some(action), RESTART_BEGUN, RESTART_BEGUN)))
}

pub fn about_restart() -> About {
    about("Restart the brokers of servers, one at a time", RESTART_BEGUN)
}

/// What the four say of themselves.
fn about(what: &'static str, begun: &str) -> About {
    About::new(what)
        .needs(Right::ChangeInstances)
        .optional_body(&FIELDS, &example_nodes())
        .json("Accepted; the action tells how it goes", &accepted(Some(EXAMPLE), begun, begun))
}

/// `POST /api/instances/<ID>/actions/reboot`.
pub async fn reboot(Changing(access, app): Changing, body: Body) -> Answer<Accepted> {
    let action = actions::restart(&access, &app, How::Reboot, body.ask(nodes)).await?;
    Ok(Json(accepted(Some(action), RESTART_BEGUN, RESTART_BEGUN)))
}

pub fn about_reboot() -> About {
    about("Restart the brokers of servers, which is all there is to boot", RESTART_BEGUN)
}

const STOP_BEGUN: &str = "Brokers are being stopped; data and addresses stay";

/// `POST /api/instances/<ID>/actions/stop`.
pub async fn stop(Changing(access, app): Changing, body: Body) -> Answer<Accepted> {
    let action = actions::stop_servers(&access, &app, body.ask(nodes)).await?;
    Ok(Json(accepted(action, STOP_BEGUN, "They are stopped already")))
}

pub fn about_stop() -> About {
    about("Stop the brokers of servers until they are started again", STOP_BEGUN)
}

const START_BEGUN: &str = "Brokers are being started";

/// `POST /api/instances/<ID>/actions/start`.
pub async fn start(Changing(access, app): Changing, body: Body) -> Answer<Accepted> {
    let action = actions::start_servers(&access, &app, body.ask(nodes)).await?;
    Ok(Json(accepted(action, START_BEGUN, "They are running already")))
}

pub fn about_start() -> About {
    about("Start the brokers of servers that were stopped", START_BEGUN)
}
