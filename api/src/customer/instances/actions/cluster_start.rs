//! `POST /api/instances/<ID>/actions/cluster-start`.

use crate::auth::CustomerKey;
use crate::error::Failure;
use crate::openapi::About;
use crate::path::Id;
use crate::state::Api;
use app::Right;
use app::instances::{self, Power};
use axum::Json;
use axum::extract::State;
use wire::customer::Message;

const ANSWER: &str = "The cluster is being started";

pub async fn handle(
    State(api): State<Api>,
    CustomerKey(caller): CustomerKey,
    Id(id): Id,
) -> Result<Json<Message>, Failure> {
    instances::set_power(&caller, &api.app, id, Power::Start).await?;
    Ok(Json(answer()))
}

fn answer() -> Message {
    Message { message: ANSWER.into() }
}

pub fn about() -> About {
    About::new("Start a cluster that was stopped")
        .needs(Right::ChangeInstances)
        .json("Accepted; `ready` follows", &answer())
}
