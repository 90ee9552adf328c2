//! `GET /api/alarms/<id>`.

use super::{document, example};
use crate::auth::Seeing;
use crate::error::Failure;
use crate::openapi::About;
use crate::path::AlarmPath;
use crate::state::Api;
use app::{Right, alarms};
use axum::Json;
use axum::extract::State;
use wire::alarms::Alarm;

pub async fn handle(
    State(api): State<Api>,
    Seeing(access): Seeing,
    AlarmPath(id): AlarmPath,
) -> Result<Json<Alarm>, Failure> {
    Ok(Json(document(&alarms::read(&access, &api.app, id).await?)))
}

pub fn about() -> About {
    About::new("Read an alarm").needs(Right::SeeInstances).json("The alarm", &example())
}
