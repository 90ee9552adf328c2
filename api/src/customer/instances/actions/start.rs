//! `POST /api/instances/<ID>/actions/start`.

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

const BEGUN: &str = "Brokers are being started";
const ALREADY: &str = "They are running already";

pub async fn handle(
    State(api): State<Api>,
    Changing(access): Changing,
    body: Body,
) -> Result<Json<Accepted>, Failure> {
    let action = actions::start_servers(&access, &api.app, body.ask(nodes)).await?;
    Ok(Json(accepted(action, BEGUN, ALREADY)))
}

pub fn about() -> About {
    About::new("Start the brokers of servers that were stopped")
        .needs(Right::ChangeInstances)
        .optional_body(&FIELDS, &example_nodes())
        .json("Accepted; the action tells how it goes", &accepted(Some(EXAMPLE), BEGUN, ALREADY))
}
