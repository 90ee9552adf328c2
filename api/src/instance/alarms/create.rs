//! `POST /api/alarms`.

use super::{FIELDS, NULLABLE, OPTIONAL, asked, document, example, example_fields};
use crate::auth::Changing;
use crate::body::Body;
use crate::error::Failure;
use crate::openapi::About;
use crate::state::Api;
use app::{Right, alarms};
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use wire::alarms::Alarm;

pub async fn handle(
    State(api): State<Api>,
    Changing(access): Changing,
    body: Body,
) -> Result<(StatusCode, Json<Alarm>), Failure> {
    let alarm = alarms::create(&access, &api.app, body.ask(asked)).await?;
    Ok((StatusCode::CREATED, Json(document(&alarm))))
}

pub fn about() -> About {
    let [kind, rest @ ..] = FIELDS;
    let fields: Vec<_> = [kind.required()].into_iter().chain(rest).collect();
    About::new("Watch for something")
        .needs(Right::ChangeInstances)
        .body(&fields, &example_fields())
        .created_json("The alarm", &example())
        .nullable(NULLABLE)
        .optional(OPTIONAL)
}
