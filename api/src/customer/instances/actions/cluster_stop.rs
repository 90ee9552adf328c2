//! `POST /api/instances/<ID>/actions/cluster-stop`.

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

const ANSWER: &str = "The cluster is being stopped; its data and addresses stay";

pub async fn handle(
    State(api): State<Api>,
    CustomerKey(caller): CustomerKey,
    Id(id): Id,
) -> Result<Json<Message>, Failure> {
    instances::set_power(&caller, &api.app, id, Power::Stop).await?;
    Ok(Json(answer()))
}

fn answer() -> Message {
    Message { message: ANSWER.into() }
}

pub fn about() -> About {
    About::new("Stop every server of a cluster; data and addresses stay")
        .needs(Right::ChangeInstances)
        .json("Accepted; `ready` follows", &answer())
}
