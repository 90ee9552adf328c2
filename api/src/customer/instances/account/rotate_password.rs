//! `POST /api/instances/<ID>/account/rotate-password`.

use crate::auth::Changing;
use crate::error::Failure;
use crate::openapi::About;
use crate::state::Api;
use app::{Right, users};
use axum::extract::State;
use axum::http::StatusCode;

pub async fn handle(
    State(api): State<Api>,
    Changing(access): Changing,
) -> Result<StatusCode, Failure> {
    users::rotate_password(&access, &api.app).await?;
    Ok(StatusCode::NO_CONTENT)
}

pub fn about() -> About {
    About::new("Give the default user another password, which the instance then tells")
        .needs(Right::ChangeInstances)
        .asks_kafka()
}
