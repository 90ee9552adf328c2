//! Whether an alarm makes sense.

use crate::{Error, Problems, Result};
use model::{AlarmSpec, AlarmType, Measure, Recipient, RecipientId};

/// Beyond this a threshold is a slip of the keyboard.
pub const LARGEST: i64 = 1_000_000_000;

/// What may be said of an alarm, as sent.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct AlarmFields {
    pub kind: Option<String>,
    pub enabled: Option<bool>,
    pub value_threshold: Option<i64>,
    pub time_threshold: Option<i64>,
    /// Sent as null or empty: every group. Not sent: as it was.
    pub group: Option<Option<String>>,
    /// An empty list means every recipient.
    pub recipients: Option<Vec<i64>>,
    /// Sent as null or 0: no reminders. Not sent: as it was.
    pub reminder_interval: Option<Option<i64>>,
}

/// The alarm that these fields describe, `before` being what it was.
pub fn validate(
    fields: AlarmFields,
    mut problems: Problems,
    before: Option<&AlarmSpec>,
    known: &[Recipient],
) -> Result<AlarmSpec> {
    let kind = kind(&fields, &mut problems, before);
    let value_threshold = kind.and_then(|kind| value(&fields, &mut problems, kind));
    let time_threshold = kind.and_then(|kind| time(&fields, &mut problems, kind, before));
    let recipients = match fields.recipients {
        Some(ids) => recipients(ids, &mut problems, known),
        None => before.map(|before| before.recipients.clone()).unwrap_or_default(),
    };
    let reminder_interval = match fields.reminder_interval {
        Some(interval) => reminder(interval, &mut problems),
        None => before.and_then(|before| before.reminder_interval),
    };
    let group = fields.group.unwrap_or_else(|| before.and_then(|before| before.group.clone()));
    problems.finish()?;
    let kind = kind.ok_or_else(|| Error::field("type", "Field is required"))?;
    Ok(AlarmSpec {
        kind,
        enabled: fields.enabled.or(before.map(|before| before.enabled)).unwrap_or(true),
        value_threshold,
        time_threshold,
        group: group.filter(|_| kind == AlarmType::ConsumerLag),
        recipients,
        reminder_interval,
    })
}

/// It stays what it is: what watches a disk does not become a watch of cpu.
fn kind(
    fields: &AlarmFields,
    problems: &mut Problems,
    before: Option<&AlarmSpec>,
) -> Option<AlarmType> {
    let given = match (&fields.kind, before) {
        (None, Some(before)) => return Some(before.kind),
        (given, _) => problems.required("type", given.as_deref())?,
    };
    let Ok(kind) = given.parse() else {
        let all: Vec<&str> = AlarmType::ALL.iter().map(|kind| kind.as_str()).collect();
        problems.add("type", format!("must be one of {}", all.join(", ")));
        return None;
    };
    if before.is_some_and(|before| before.kind != kind) {
        problems.add("type", "can't change; delete the alarm and create another one");
        return None;
    }
    Some(kind)
}

fn value(fields: &AlarmFields, problems: &mut Problems, kind: AlarmType) -> Option<i64> {
    let measure = kind.measure()?;
    let value = problems.required("value_threshold", fields.value_threshold)?;
    let (most, what) = match measure {
        Measure::Percent => (100, "percent"),
        Measure::Gigabytes => (LARGEST, "gigabytes"),
        Measure::Seconds => (LARGEST, "seconds"),
        Measure::Days => (LARGEST, "days"),
        Measure::Hours => (LARGEST, "hours"),
    };
    if (1..=most).contains(&value) {
        return Some(value);
    }
    problems.add("value_threshold", format!("must be 1 to {most} {what}"));
    None
}

/// A type that has a default need not be told it again, so what it was stays.
fn time(
    fields: &AlarmFields,
    problems: &mut Problems,
    kind: AlarmType,
    before: Option<&AlarmSpec>,
) -> Option<i64> {
    if !kind.takes_time() {
        return None;
    }
    let unnamed =
        kind.default_time().map(|it| before.and_then(|before| before.time_threshold).unwrap_or(it));
    let time = match fields.time_threshold.or(unnamed) {
        Some(time) => time,
        None => problems.required("time_threshold", None)?,
    };
    if (0..=LARGEST).contains(&time) {
        return Some(time);
    }
    problems.add("time_threshold", format!("must be 0 to {LARGEST} seconds"));
    None
}

/// Each once, in the order in which they were sent.
fn recipients(ids: Vec<i64>, problems: &mut Problems, known: &[Recipient]) -> Vec<RecipientId> {
    let mut list = Vec::new();
    for id in ids.into_iter().map(RecipientId) {
        if !known.iter().any(|recipient| recipient.id == id) {
            problems.add("recipients", format!("has {id}, which is no recipient of this instance"));
            return list;
        }
        if !list.contains(&id) {
            list.push(id);
        }
    }
    list
}

fn reminder(interval: Option<i64>, problems: &mut Problems) -> Option<i64> {
    match interval {
        None | Some(0) => None,
        Some(interval @ 60..=LARGEST) => Some(interval),
        Some(_) => {
            problems.add("reminder_interval", "must be 60 seconds or more, or null for none");
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fields(kind: &str, value: Option<i64>, time: Option<i64>) -> AlarmFields {
        AlarmFields {
            kind: Some(kind.into()),
            value_threshold: value,
            time_threshold: time,
            ..AlarmFields::default()
        }
    }

    fn judged(fields: AlarmFields, before: Option<&AlarmSpec>) -> Result<AlarmSpec> {
        validate(fields, Problems::default(), before, &[])
    }

    #[test]
    fn thresholds_are_those_of_the_type() {
        let check = |kind: &str, value, time, expected: std::result::Result<_, &str>| {
            let found = judged(fields(kind, value, time), None)
                .map(|spec| (spec.value_threshold, spec.time_threshold))
                .map_err(|error| error.to_string());
            assert_eq!(found, expected.map_err(str::to_owned), "{kind} {value:?} {time:?}");
        };
        check("cpu", Some(90), Some(600), Ok((Some(90), Some(600))));
        check("cpu", None, Some(600), Err("value_threshold: Field is required"));
        check("memory", Some(90), None, Err("time_threshold: Field is required"));
        let both = "2 fields are missing or wrong: value_threshold, time_threshold";
        check("disk", None, None, Err(both));
        check("cpu", Some(0), Some(0), Err("value_threshold: must be 1 to 100 percent"));
        check("cpu", Some(101), Some(0), Err("value_threshold: must be 1 to 100 percent"));
        check("disk", Some(500), Some(0), Ok((Some(500), Some(0))));
        check("disk", Some(5), Some(-1), Err("time_threshold: must be 0 to 1000000000 seconds"));
        check("notice", Some(-5), Some(-5), Ok((None, None)));
        check("server_unreachable", Some(-5), None, Ok((None, Some(30))));
        check("netsplit", None, Some(7), Ok((None, Some(7))));
        check("consumer_lag", Some(60), None, Ok((Some(60), Some(30))));
        check("disk_forecast", Some(24), None, Ok((Some(24), Some(0))));
        check("certificate_expiry", Some(14), None, Ok((Some(14), Some(0))));
        check("under_min_isr", None, Some(0), Ok((None, Some(0))));
    }

    #[test]
    fn an_update_keeps_what_it_does_not_name() {
        let before = AlarmSpec {
            enabled: false,
            recipients: vec![RecipientId(7)],
            reminder_interval: Some(60),
            ..AlarmSpec::first(AlarmType::Cpu, Some(90), Some(600))
        };
        let after = judged(fields("cpu", Some(80), Some(60)), Some(&before)).unwrap();
        let expected =
            AlarmSpec { value_threshold: Some(80), time_threshold: Some(60), ..before.clone() };
        assert_eq!(after, expected);
        let unnamed = AlarmFields { kind: None, ..fields("", Some(90), Some(600)) };
        assert_eq!(judged(unnamed, Some(&before)).unwrap(), before);
        let other = judged(fields("memory", Some(80), Some(60)), Some(&before)).unwrap_err();
        assert!(other.to_string().contains("can't change"), "{other}");
        let reminded = AlarmFields {
            reminder_interval: Some(None),
            recipients: Some(vec![]),
            ..fields("cpu", Some(90), Some(600))
        };
        let after = judged(reminded, Some(&before)).unwrap();
        assert_eq!((after.reminder_interval, after.recipients), (None, vec![]));
        let silent = AlarmSpec::first(AlarmType::ServerUnreachable, None, Some(300));
        let unnamed = AlarmFields { enabled: Some(true), ..AlarmFields::default() };
        assert_eq!(judged(unnamed.clone(), Some(&silent)).unwrap(), silent);
        let missing = judged(unnamed, Some(&before)).unwrap_err().to_string();
        assert!(missing.contains("value_threshold, time_threshold"), "{missing}");
    }
}
