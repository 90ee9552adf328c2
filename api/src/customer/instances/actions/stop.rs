//! `POST /api/instances/<ID>/actions/stop`.

use super::{EXAMPLE, FIELDS, accepted, example_nodes, nodes};
use crate::auth::Changing;
use crate::body::Body;
use crate::error::Failure;
use crate::openapi::About;
use crate::state::Api;
use app::Right;
use app::actions;
use axum::Json;
use axum::extract::State;
use wire::actions::Accepted;

const BEGUN: &str = "Brokers are being stopped; data and addresses stay";
const ALREADY: &str = "They are stopped already";

pub async fn handle(
    State(api): State<Api>,
    Changing(access): Changing,
    body: Body,
) -> Result<Json<Accepted>, Failure> {
    let action = actions::stop_servers(&access, &api.app, body.ask(nodes)).await?;
    Ok(Json(accepted(action, BEGUN, ALREADY)))
}

pub fn about() -> About {
    About::new("Stop the brokers of servers until they are started again")
        .needs(Right::ChangeInstances)
        .optional_body(&FIELDS, &example_nodes())
        .json("Accepted; the action tells how it goes", &accepted(Some(EXAMPLE), BEGUN, ALREADY))
}
