//! What is said of an alarm in whatever way it is told. Pure.

use model::{AlarmType, Maintenance, Measure, Notification, NotificationState, Timestamp};

/// How bad it is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Severity {
    Critical,
    Warning,
    Info,
}

/// The whole in a line, such as `Triggered: cpu on "prod" server 2`.
pub fn headline(notification: &Notification) -> String {
    let Notification { state, alarm_type, instance_name, server, .. } = notification;
    let what = match state {
        NotificationState::Triggered => "Triggered",
        NotificationState::Resolved => "Resolved",
        NotificationState::Reminder => "Reminder",
        NotificationState::Test => return format!("Test: alarms of {}", quoted(instance_name)),
    };
    let server = server.as_ref().map(|name| format!(" server {name}")).unwrap_or_default();
    format!("{what}: {alarm_type} on {}{server}", quoted(instance_name))
}

fn quoted(name: &str) -> String {
    format!("\"{name}\"")
}

/// What there is to know besides the message, each with its name.
pub fn facts(notification: &Notification) -> Vec<(&'static str, String)> {
    let of = notification;
    let kind: Option<AlarmType> = of.alarm_type.parse().ok();
    let measure = kind.and_then(AlarmType::measure);
    let is_alarm = of.state != NotificationState::Test;
    let all = [
        ("Instance", Some(format!("{} ({})", of.instance_name, of.instance_id))),
        ("Alarm", is_alarm.then(|| of.alarm_type.clone())),
        ("Server", of.server.clone()),
        ("Value", of.value.map(|value| counted(round(value), measure))),
        ("Threshold", threshold(of, measure)),
        ("Triggered", of.triggered_at.map(moment)),
        ("Resolved", of.resolved_at.map(moment)),
    ];
    all.into_iter().filter_map(|(name, fact)| Some((name, fact?))).collect()
}

/// Such as `above 90 % for 600 s`.
fn threshold(of: &Notification, measure: Option<Measure>) -> Option<String> {
    let side = match measure {
        Some(Measure::Percent | Measure::Seconds) => "above ",
        Some(Measure::Gigabytes | Measure::Days | Measure::Hours) => "below ",
        None => "",
    };
    let value = of.value_threshold.map(|value| format!("{side}{}", counted(value, measure)));
    let time = of.time_threshold.filter(|seconds| *seconds > 0);
    let time = time.map(|seconds| format!("for {seconds} s"));
    let parts: Vec<String> = value.into_iter().chain(time).collect();
    (!parts.is_empty()).then(|| parts.join(" "))
}

fn counted(value: impl std::fmt::Display, measure: Option<Measure>) -> String {
    match measure {
        Some(Measure::Percent) => format!("{value} %"),
        Some(Measure::Gigabytes) => format!("{value} GB"),
        Some(Measure::Seconds) => format!("{value} s"),
        Some(Measure::Days) => format!("{value} days"),
        Some(Measure::Hours) => format!("{value} hours"),
        None => value.to_string(),
    }
}

fn round(value: f64) -> f64 {
    (value * 100.0).round() / 100.0
}

fn moment(at: Timestamp) -> String {
    at.strftime("%Y-%m-%d %H:%M:%S UTC").to_string()
}

/// What there is still time for is a warning, and what was planned is news.
pub fn severity(notification: &Notification) -> Severity {
    let kind: Option<AlarmType> = notification.alarm_type.parse().ok();
    match (notification.state, kind) {
        (NotificationState::Test, _) => Severity::Info,
        (_, Some(AlarmType::Notice)) => match notification.maintenance {
            Some(Maintenance::Emergency) => Severity::Critical,
            Some(Maintenance::Planned) | None => Severity::Info,
        },
        (_, Some(AlarmType::CertificateExpiry | AlarmType::DiskForecast)) => Severity::Warning,
        _ => Severity::Critical,
    }
}

/// When it came to the state that is told.
pub fn since(notification: &Notification) -> Option<Timestamp> {
    match notification.state {
        NotificationState::Resolved => notification.resolved_at,
        _ => notification.triggered_at,
    }
}

/// Where it is: a server, or the cluster as a whole.
pub fn place(notification: &Notification) -> &str {
    notification.server.as_deref().unwrap_or(&notification.instance_name)
}

/// As much of a text as fits; services refuse what is longer, or cut it.
pub fn cut(text: &str, characters: usize) -> String {
    if text.chars().count() <= characters {
        return text.to_owned();
    }
    let kept = text.chars().take(characters.saturating_sub(1));
    kept.chain(['…']).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::channels::samples;

    #[test]
    fn headlines() {
        let check = |notification: Notification, expected: &str| {
            assert_eq!(headline(&notification), expected);
        };
        check(samples::triggered(), "Triggered: cpu on \"prod\" server prod-02");
        check(samples::resolved(), "Resolved: cpu on \"prod\" server prod-02");
        check(samples::reminder(), "Reminder: cpu on \"prod\" server prod-02");
        check(samples::test(), "Test: alarms of \"prod\"");
        let whole = Notification { server: None, ..samples::triggered() };
        check(whole, "Triggered: cpu on \"prod\"");
    }

    #[test]
    fn how_bad_it_is() {
        let check = |notification: Notification, expected: Severity| {
            assert_eq!(severity(&notification), expected, "{notification:?}");
        };
        check(samples::triggered(), Severity::Critical);
        check(samples::test(), Severity::Info);
        check(samples::notice(1, Maintenance::Planned), Severity::Info);
        check(samples::notice(1, Maintenance::Emergency), Severity::Critical);
        let forecast = Notification { alarm_type: "disk_forecast".into(), ..samples::triggered() };
        check(forecast, Severity::Warning);
    }

    #[test]
    fn values_and_thresholds_have_units() {
        let check = |kind: &str, value: f64, limit: Option<i64>, expected: [&str; 2]| {
            let of = Notification {
                alarm_type: kind.into(),
                value: Some(value),
                value_threshold: limit,
                time_threshold: Some(if kind == "disk_forecast" { 0 } else { 30 }),
                ..samples::triggered()
            };
            let facts = facts(&of);
            let fact = |name: &str| facts.iter().find(|fact| fact.0 == name).unwrap().1.as_str();
            assert_eq!([fact("Value"), fact("Threshold")], expected, "{kind}");
        };
        check("cpu", 97.456_7, Some(90), ["97.46 %", "above 90 % for 30 s"]);
        check("disk", 4.0, Some(5), ["4 GB", "below 5 GB for 30 s"]);
        check("consumer_lag", 61.5, Some(60), ["61.5 s", "above 60 s for 30 s"]);
        check("disk_forecast", 7.25, Some(24), ["7.25 hours", "below 24 hours"]);
        check("under_min_isr", 3.0, None, ["3", "for 30 s"]);
        check("certificate_expiry", 6.0, Some(7), ["6 days", "below 7 days for 30 s"]);
    }

    #[test]
    fn texts_are_cut_between_characters() {
        let check = |text: &str, characters: usize, expected: &str| {
            assert_eq!(cut(text, characters), expected);
        };
        check("Söhne", 5, "Söhne");
        check("Söhne", 4, "Söh…");
        check("Söhne", 1, "…");
        check("", 0, "");
    }
}
