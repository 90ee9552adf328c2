//! `POST /api/instances/<ID>/actions/restart`.

use super::{EXAMPLE, FIELDS, accepted, example_nodes, nodes};
use crate::auth::Changing;
use crate::body::Body;
use crate::error::Failure;
use crate::openapi::About;
use crate::state::Api;
use app::actions::{self, How};
use app::{InstanceAccess, Right};
use axum::Json;
use axum::extract::State;
use wire::actions::Accepted;

const BEGUN: &str = "Brokers are being restarted one at a time";

pub async fn handle(
    State(api): State<Api>,
    Changing(access): Changing,
    body: Body,
) -> Result<Json<Accepted>, Failure> {
    begin(&api, &access, How::Restart, body).await
}

pub fn about() -> About {
    about_as("Restart the brokers of servers, one at a time")
}

/// By whatever name it was asked for.
pub(super) async fn begin(
    api: &Api,
    access: &InstanceAccess,
    how: How,
    body: Body,
) -> Result<Json<Accepted>, Failure> {
    let action = actions::restart(access, &api.app, how, body.ask(nodes)).await?;
    Ok(Json(accepted(Some(action), BEGUN, BEGUN)))
}

pub(super) fn about_as(what: &'static str) -> About {
    About::new(what)
        .needs(Right::ChangeInstances)
        .optional_body(&FIELDS, &example_nodes())
        .json("Accepted; the action tells how it goes", &accepted(Some(EXAMPLE), BEGUN, BEGUN))
}
