//! `GET /api/alarms/<id>/history`.

use crate::auth::Seeing;
use crate::error::Failure;
use crate::openapi::About;
use crate::path::AlarmPath;
use crate::state::Api;
use app::{Right, alarms};
use axum::Json;
use axum::extract::State;
use model::{AlarmType, Timestamp};
use wire::alarms::Incident;

pub async fn handle(
    State(api): State<Api>,
    Seeing(access): Seeing,
    AlarmPath(id): AlarmPath,
) -> Result<Json<Vec<Incident>>, Failure> {
    let (alarm, found) = alarms::history(&access, &api.app, id).await?;
    let of_groups = alarm.what.kind == AlarmType::ConsumerLag;
    Ok(Json(found.into_iter().map(|incident| document(incident, of_groups)).collect()))
}

fn document(incident: model::Incident, of_groups: bool) -> Incident {
    let is_of_certificates = !of_groups && incident.expiring().is_some();
    let about = Some(incident.about).filter(|it| !it.is_empty() && !is_of_certificates);
    let (server, group) = if of_groups { (None, about) } else { (about, None) };
    Incident {
        id: incident.id.0,
        server,
        group,
        since: incident.since,
        triggered_at: incident.triggered_at,
        resolved_at: incident.resolved_at,
        value: incident.value,
        message: incident.message,
    }
}

pub fn about() -> About {
    let at = |second: i64| Timestamp::constant(1_794_744_000 + second, 0);
    let example = Incident {
        id: 1,
        server: Some("u7k2m9qa-02".into()),
        group: None,
        since: at(0),
        triggered_at: Some(at(600)),
        resolved_at: Some(at(1800)),
        value: Some(97.5),
        message: "The cpu of u7k2m9qa-02 is fine again; now 12 %".into(),
    };
    About::new("List what people were told of an alarm")
        .needs(Right::SeeInstances)
        .list("The latest first, at most 100", example)
}
