//! `/api/instances/<ID>/actions/restart`, `reboot`, `stop` and `start`: of the brokers of servers.

use super::{EXAMPLE, FIELDS, accepted, example_nodes, nodes};
use crate::auth::Changing;
use crate::body::Body;
use crate::openapi::About;
use app::actions::{self, How};
use app::{InstanceAccess, Right};
use axum::Json;
use axum::extract::State;
use web::error::Failure;
use web::state::Api;
use wire::actions::Accepted;

const RESTART_BEGUN: &str = "Brokers are being restarted one at a time";

/// `POST /api/instances/<ID>/actions/restart`.
pub async fn restart(
    State(api): State<Api>,
    Changing(access): Changing,
    body: Body,
) -> Result<Json<Accepted>, Failure> {
    begin(&api, &access, How::Restart, body).await
}

pub fn about_restart() -> About {
    about_restarting("Restart the brokers of servers, one at a time")
}

/// By whatever name it was asked for.
async fn begin(
    api: &Api,
    access: &InstanceAccess,
    how: How,
    body: Body,
) -> Result<Json<Accepted>, Failure> {
    let action = actions::restart(access, &api.app, how, body.ask(nodes)).await?;
    Ok(Json(accepted(Some(action), RESTART_BEGUN, RESTART_BEGUN)))
}

fn about_restarting(what: &'static str) -> About {
    About::new(what).needs(Right::ChangeInstances).optional_body(&FIELDS, &example_nodes()).json(
        "Accepted; the action tells how it goes",
        &accepted(Some(EXAMPLE), RESTART_BEGUN, RESTART_BEGUN),
    )
}

/// `POST /api/instances/<ID>/actions/reboot`.
pub async fn reboot(
    State(api): State<Api>,
    Changing(access): Changing,
    body: Body,
) -> Result<Json<Accepted>, Failure> {
    begin(&api, &access, How::Reboot, body).await
}

pub fn about_reboot() -> About {
    about_restarting("Restart the brokers of servers, which is all there is to boot")
}

const STOP_BEGUN: &str = "Brokers are being stopped; data and addresses stay";
const STOP_ALREADY: &str = "They are stopped already";

/// `POST /api/instances/<ID>/actions/stop`.
pub async fn stop(
    State(api): State<Api>,
    Changing(access): Changing,
    body: Body,
) -> Result<Json<Accepted>, Failure> {
    let action = actions::stop_servers(&access, &api.app, body.ask(nodes)).await?;
    Ok(Json(accepted(action, STOP_BEGUN, STOP_ALREADY)))
}

pub fn about_stop() -> About {
    About::new("Stop the brokers of servers until they are started again")
        .needs(Right::ChangeInstances)
        .optional_body(&FIELDS, &example_nodes())
        .json(
            "Accepted; the action tells how it goes",
            &accepted(Some(EXAMPLE), STOP_BEGUN, STOP_ALREADY),
        )
}

const START_BEGUN: &str = "Brokers are being started";
const START_ALREADY: &str = "They are running already";

/// `POST /api/instances/<ID>/actions/start`.
pub async fn start(
    State(api): State<Api>,
    Changing(access): Changing,
    body: Body,
) -> Result<Json<Accepted>, Failure> {
    let action = actions::start_servers(&access, &api.app, body.ask(nodes)).await?;
    Ok(Json(accepted(action, START_BEGUN, START_ALREADY)))
}

pub fn about_start() -> About {
    About::new("Start the brokers of servers that were stopped")
        .needs(Right::ChangeInstances)
        .optional_body(&FIELDS, &example_nodes())
        .json(
            "Accepted; the action tells how it goes",
            &accepted(Some(EXAMPLE), START_BEGUN, START_ALREADY),
        )
}
