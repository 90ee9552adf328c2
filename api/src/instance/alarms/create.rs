//! `POST /api/alarms`.

use super::{FIELDS, TYPE, asked, document, example, example_fields};
use crate::auth::Changing;
use crate::body::Body;
use crate::error::Failure;
use crate::openapi::{About, Input};
use crate::state::Api;
use app::alarms::LARGEST;
use app::{Right, alarms};
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use model::{AlarmType, Measure};
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
    let fields: Vec<_> = [TYPE].into_iter().chain(FIELDS).collect();
    let about = About::new("Watch for something")
        .needs(Right::ChangeInstances)
        .body(&fields, &example_fields());
    AlarmType::ALL
        .iter()
        .fold(about, |about, kind| about.when("type", &[kind.as_str()], &thresholds(*kind)))
        .created_json("The alarm", &example())
}

/// What a type wants of them.
fn thresholds(kind: AlarmType) -> Vec<Input> {
    let value = kind.measure().map(|measure| {
        let most = if measure == Measure::Percent { 100 } else { LARGEST };
        Input::integer("value_threshold", "Of this type").required().at_least(1).at_most(most)
    });
    let time = kind.takes_time().then(|| {
        let time = Input::integer("time_threshold", "Of this type").at_least(0).at_most(LARGEST);
        if kind.default_time().is_none() { time.required() } else { time }
    });
    value.into_iter().chain(time).collect()
}
