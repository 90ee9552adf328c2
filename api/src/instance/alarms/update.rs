//! `PUT /api/alarms/<id>`.

use super::{FIELDS, asked, document, example, example_fields};
use crate::auth::Changing;
use crate::body::Body;
use crate::error::Failure;
use crate::openapi::About;
use crate::path::AlarmPath;
use crate::state::Api;
use app::{Right, alarms};
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use wire::alarms::Alarm;

pub async fn handle(
    State(api): State<Api>,
    Changing(access): Changing,
    AlarmPath(id): AlarmPath,
    body: Body,
) -> Result<(StatusCode, Json<Alarm>), Failure> {
    let alarm = alarms::update(&access, &api.app, id, body.ask(asked)).await?;
    Ok((StatusCode::CREATED, Json(document(&alarm))))
}

pub fn about() -> About {
    About::new("Change an alarm; its type stays, and so do enabled and recipients if not given")
        .needs(Right::ChangeInstances)
        .body(&FIELDS, &wire::alarms::AlarmFields { kind: None, ..example_fields() })
        .created_json("The alarm as it is now", &example())
}
