//! `POST /api/instances/<ID>/actions/reboot`.

use super::restart;
use crate::auth::Changing;
use crate::body::Body;
use crate::error::Failure;
use crate::openapi::About;
use crate::state::Api;
use app::actions::How;
use axum::Json;
use axum::extract::State;
use wire::actions::Accepted;

pub async fn handle(
    State(api): State<Api>,
    Changing(access): Changing,
    body: Body,
) -> Result<Json<Accepted>, Failure> {
    restart::begin(&api, &access, How::Reboot, body).await
}

pub fn about() -> About {
    restart::about_as("Restart the brokers of servers, which is all there is to boot")
}
