//! `PUT /api/alarms/recipients/<id>`.

use super::{FIELDS, asked, example, example_fields, whole, with_values};
use crate::answer::SecretJson;
use crate::auth::Changing;
use crate::body::Body;
use crate::error::Failure;
use crate::openapi::About;
use crate::path::RecipientPath;
use crate::state::Api;
use app::{Right, recipients};
use axum::extract::State;
use wire::alarms::Recipient;

pub async fn handle(
    State(api): State<Api>,
    Changing(access): Changing,
    RecipientPath(id): RecipientPath,
    body: Body,
) -> Result<SecretJson<Recipient>, Failure> {
    let recipient = recipients::update(&access, &api.app, id, body.ask(asked)).await?;
    Ok(SecretJson(whole(&recipient)))
}

pub fn about() -> About {
    let about = About::new("Change a recipient; name and options stay if not given")
        .needs(Right::ChangeInstances)
        .body(&FIELDS, &example_fields());
    with_values(about).json("The recipient as it is now", &example())
}
