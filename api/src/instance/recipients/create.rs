//! `POST /api/alarms/recipients`.

use super::{FIELDS, asked, example, example_fields, whole, with_values};
use crate::answer::SecretJson;
use crate::auth::Changing;
use crate::body::Body;
use crate::error::Failure;
use crate::openapi::About;
use crate::state::Api;
use app::{Right, recipients};
use axum::extract::State;
use axum::http::StatusCode;
use wire::alarms::Recipient;

pub async fn handle(
    State(api): State<Api>,
    Changing(access): Changing,
    body: Body,
) -> Result<(StatusCode, SecretJson<Recipient>), Failure> {
    let recipient = recipients::create(&access, &api.app, body.ask(asked)).await?;
    Ok((StatusCode::CREATED, SecretJson(whole(&recipient))))
}

pub fn about() -> About {
    let about = About::new("Have alarms told to somebody")
        .needs(Right::ChangeInstances)
        .body(&FIELDS, &example_fields());
    with_values(about).created_json("The recipient", &example())
}
