//! `GET /api/alarms/recipients/<id>`.

use super::{document, example};
use crate::answer::SecretJson;
use crate::auth::Seeing;
use crate::error::Failure;
use crate::openapi::About;
use crate::path::RecipientPath;
use crate::state::Api;
use app::{Right, recipients};
use axum::extract::State;
use wire::alarms::Recipient;

pub async fn handle(
    State(api): State<Api>,
    Seeing(access): Seeing,
    RecipientPath(id): RecipientPath,
) -> Result<SecretJson<Recipient>, Failure> {
    Ok(SecretJson(document(&recipients::read(&access, &api.app, id).await?)))
}

pub fn about() -> About {
    About::new("Read a recipient, and how telling them went the last time")
        .needs(Right::SeeInstances)
        .json("The recipient", &example())
}
