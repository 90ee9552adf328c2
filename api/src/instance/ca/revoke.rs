//! `DELETE /api/ca/certificates/<serial>`.

use crate::auth::Changing;
use crate::error::Failure;
use crate::openapi::About;
use crate::path::SerialPath;
use crate::state::Api;
use app::{Right, ca};
use axum::extract::State;
use axum::http::StatusCode;

pub async fn handle(
    State(api): State<Api>,
    Changing(access): Changing,
    SerialPath(serial): SerialPath,
) -> Result<StatusCode, Failure> {
    ca::revoke(&access, &api.app, serial).await?;
    Ok(StatusCode::NO_CONTENT)
}

pub fn about() -> About {
    About::new("Revoke a client's certificate; brokers refuse it within seconds, for good")
        .needs(Right::ChangeInstances)
}
