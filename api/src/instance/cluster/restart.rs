//! `POST /api/api/cluster/restart`.

use crate::auth::Changing;
use crate::error::Failure;
use crate::openapi::About;
use crate::state::Api;
use app::actions::{self, How, Nodes};
use app::{Asked, Right};
use axum::extract::State;
use axum::http::StatusCode;

pub async fn handle(
    State(api): State<Api>,
    Changing(access): Changing,
) -> Result<StatusCode, Failure> {
    let all = Asked::given(Nodes::default());
    actions::restart(&access, &api.app, How::Restart, all).await?;
    Ok(StatusCode::CREATED)
}

pub fn about() -> About {
    About::new("Restart the cluster, one server at a time")
        .needs(Right::ChangeInstances)
        .refuses(
            "The cluster follows another change: action 12 (restart of the cluster, asked for \
             at 2026-11-15T12:00:00Z), 1 of 3 servers done; \
             try again once `configured` reads true",
        )
        .created("Accepted; `configured` is false until it is done")
}
