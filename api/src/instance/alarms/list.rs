//! `GET /api/alarms`.

use super::{document, example};
use crate::auth::Seeing;
use crate::error::Failure;
use crate::openapi::About;
use crate::state::Api;
use app::{Right, alarms};
use axum::Json;
use axum::extract::State;
use wire::alarms::Alarm;

pub async fn handle(
    State(api): State<Api>,
    Seeing(access): Seeing,
) -> Result<Json<Vec<Alarm>>, Failure> {
    let found = alarms::list(&access, &api.app).await?;
    Ok(Json(found.iter().map(document).collect()))
}

pub fn about() -> About {
    About::new("List alarms").needs(Right::SeeInstances).list("By id", example())
}
