//! `GET /api/alarms/recipients`.

use super::{document, example};
use crate::answer::SecretJson;
use crate::auth::Seeing;
use crate::error::Failure;
use crate::openapi::About;
use crate::state::Api;
use app::{Right, recipients};
use axum::extract::State;
use wire::alarms::Recipient;

pub async fn handle(
    State(api): State<Api>,
    Seeing(access): Seeing,
) -> Result<SecretJson<Vec<Recipient>>, Failure> {
    let found = recipients::list(&access, &api.app).await?;
    Ok(SecretJson(found.iter().map(document).collect()))
}

pub fn about() -> About {
    About::new("List whom alarms are told to").needs(Right::SeeInstances).list("By id", example())
}
