//! `DELETE /api/alarms/recipients/<id>`. A body is let through and not looked at.

use crate::auth::Changing;
use crate::error::Failure;
use crate::openapi::About;
use crate::path::RecipientPath;
use crate::state::Api;
use app::{Right, recipients};
use axum::extract::State;
use axum::http::StatusCode;

pub async fn handle(
    State(api): State<Api>,
    Changing(access): Changing,
    RecipientPath(id): RecipientPath,
) -> Result<StatusCode, Failure> {
    recipients::delete(&access, &api.app, id).await?;
    Ok(StatusCode::NO_CONTENT)
}

pub fn about() -> About {
    About::new("Delete a recipient, who leaves every alarm's list").needs(Right::ChangeInstances)
}
