//! `/api/alarms`.

pub mod create;
pub mod delete;
pub mod history;
pub mod list;
pub mod read;
pub mod update;

use crate::body::Fields;
use crate::openapi::Input;
use app::alarms::AlarmFields;
use model::AlarmType;
use wire::alarms::Alarm;

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

fn example_fields() -> AlarmFields {
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
