//! `/api/alarms`.

use crate::about::{About, Input};
use crate::answer::Answer;
use crate::auth::{Changing, Seeing};
use crate::body::{Body, Fields};
use crate::path::AlarmPath;
use app::Right;
use app::alarms::{self, AlarmFields, LARGEST};
use axum::Json;
use axum::http::StatusCode;
use model::{AlarmType, Measure, Timestamp};
use web::error::Failure;
use wire::alarms::{Alarm, Incident};

fn document(alarm: &model::Alarm) -> Alarm {
    let what = &alarm.what;
    Alarm {
        id: alarm.id.0,
        kind: what.kind.to_string(),
        enabled: what.enabled,
        value_threshold: what.value_threshold,
        time_threshold: what.time_threshold,
        group: what.group.clone(),
        reminder_interval: what.reminder_interval,
        recipients: what.recipients.iter().map(|id| id.0).collect(),
    }
}

fn asked(fields: &mut Fields) -> AlarmFields {
    AlarmFields {
        kind: fields.text("type"),
        enabled: fields.flag("enabled"),
        value_threshold: fields.integer("value_threshold"),
        time_threshold: fields.integer("time_threshold"),
        group: fields.is_sent("group").then(|| fields.text("group")),
        recipients: fields.integers("recipients"),
        reminder_interval: fields
            .is_sent("reminder_interval")
            .then(|| fields.integer("reminder_interval")),
    }
}

const TYPE: Input = Input::text("type", "What is watched").one_of(types).required();

/// Those that can change; the type can't.
const FIELDS: [Input; 6] = [
    Input::flag("enabled", "True if not given"),
    // Without bounds: types that don't take them ignore whatever is sent.
    Input::integer("value_threshold", VALUE),
    Input::integer("time_threshold", "Seconds for which the level must hold, 0 or more"),
    Input::text("group", "The consumer group of consumer_lag; empty: all of them"),
    Input::integers("recipients", "Ids; an empty list is every recipient of the instance"),
    Input::integer("reminder_interval", "Seconds between reminders, 60 or more; null: none")
        .at_least(60)
        .at_most(1_000_000_000),
];

fn types() -> Vec<&'static str> {
    AlarmType::ALL.iter().map(|kind| kind.as_str()).collect()
}

const VALUE: &str = "Percent used of cpu and memory, gigabytes free of disk, seconds behind of \
                     consumer_lag, days left of certificate_expiry, hours left of disk_forecast";

fn example() -> Alarm {
    Alarm {
        id: 1,
        kind: "cpu".into(),
        enabled: true,
        value_threshold: Some(90),
        time_threshold: Some(600),
        group: None,
        reminder_interval: Some(3600),
        recipients: vec![1],
    }
}

fn example_fields() -> wire::alarms::AlarmFields {
    wire::alarms::AlarmFields {
        kind: Some("cpu".into()),
        enabled: Some(true),
        value_threshold: Some(90),
        time_threshold: Some(600),
        group: None,
        recipients: Some(vec![1]),
        reminder_interval: Some(3600),
    }
}

/// `GET /api/alarms`.
pub async fn list(Seeing(access, app): Seeing) -> Answer<Vec<Alarm>> {
    let found = alarms::list(&access, &app).await?;
    Ok(Json(found.iter().map(document).collect()))
}

pub fn about_list() -> About {
    About::new("List alarms").needs(Right::SeeInstances).list("By id", example())
}

/// `POST /api/alarms`.
pub async fn create(
    Changing(access, app): Changing,
    body: Body,
) -> Result<(StatusCode, Json<Alarm>), Failure> {
    let alarm = alarms::create(&access, &app, body.ask(asked)).await?;
    Ok((StatusCode::CREATED, Json(document(&alarm))))
}

pub fn about_create() -> About {
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

/// `GET /api/alarms/<id>`.
pub async fn read(Seeing(access, app): Seeing, AlarmPath(id): AlarmPath) -> Answer<Alarm> {
    Ok(Json(document(&alarms::read(&access, &app, id).await?)))
}

pub fn about_read() -> About {
    About::new("Read an alarm").needs(Right::SeeInstances).json("The alarm", &example())
}

/// `PUT /api/alarms/<id>`.
pub async fn update(
    Changing(access, app): Changing,
    AlarmPath(id): AlarmPath,
    body: Body,
) -> Result<(StatusCode, Json<Alarm>), Failure> {
    let alarm = alarms::update(&access, &app, id, body.ask(asked)).await?;
    Ok((StatusCode::CREATED, Json(document(&alarm))))
}

pub fn about_update() -> About {
    About::new("Change an alarm; its type stays, and so do enabled and recipients if not given")
        .needs(Right::ChangeInstances)
        .body(&FIELDS, &wire::alarms::AlarmFields { kind: None, ..example_fields() })
        .created_json("The alarm as it is now", &example())
}

/// `DELETE /api/alarms/<id>`. A body is let through and not looked at.
pub async fn delete(
    Changing(access, app): Changing,
    AlarmPath(id): AlarmPath,
) -> Result<StatusCode, Failure> {
    alarms::delete(&access, &app, id).await?;
    Ok(StatusCode::NO_CONTENT)
}

pub fn about_delete() -> About {
    About::new("Delete an alarm").needs(Right::ChangeInstances)
}

/// `GET /api/alarms/<id>/history`.
pub async fn history(
    Seeing(access, app): Seeing,
    AlarmPath(id): AlarmPath,
) -> Answer<Vec<Incident>> {
    let (alarm, found) = alarms::history(&access, &app, id).await?;
    let of_groups = alarm.what.kind == AlarmType::ConsumerLag;
    Ok(Json(found.into_iter().map(|incident| incident_document(incident, of_groups)).collect()))
}

fn incident_document(incident: model::Incident, of_groups: bool) -> Incident {
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

pub fn about_history() -> About {
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
