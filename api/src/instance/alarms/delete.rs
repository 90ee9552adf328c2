//! `DELETE /api/alarms/<id>`. A body is let through and not looked at.

use crate::auth::Changing;
use crate::error::Failure;
use crate::openapi::About;
use crate::path::AlarmPath;
use crate::state::Api;
use app::{Right, alarms};
use axum::extract::State;
use axum::http::StatusCode;

pub async fn handle(
    State(api): State<Api>,
    Changing(access): Changing,
    AlarmPath(id): AlarmPath,
) -> Result<StatusCode, Failure> {
    alarms::delete(&access, &api.app, id).await?;
    Ok(StatusCode::NO_CONTENT)
}

pub fn about() -> About {
    About::new("Delete an alarm").needs(Right::ChangeInstances)
}
