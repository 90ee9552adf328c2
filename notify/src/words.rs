//! What is said of an alarm, whatever the channel. Pure.

use model::{AlarmType, Maintenance, Measure, Notification, NotificationState, Timestamp};
use sha2::{Digest as _, Sha256};
use std::fmt::Write as _;

/// How bad it is, the worst first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Severity {
    Critical,
    Warning,
    Info,
}

/// As much of a group's name as a line has room for; Kafka sets no bound to it.
const NAME: usize = 100;

/// The whole in a line, such as `Triggered: cpu on "prod" server 2`.
pub fn headline(notification: &Notification) -> String {
    let Notification { state, alarm_type, instance_name, server, group, .. } = notification;
    let what = match state {
        NotificationState::Triggered => "Triggered",
        NotificationState::Resolved => "Resolved",
        NotificationState::Reminder => "Reminder",
        NotificationState::Test => return format!("Test: alarms of {}", quoted(instance_name)),
    };
    let about = match (server, group) {
        (Some(name), _) => format!(" server {name}"),
        (None, Some(name)) => format!(" group {}", cut(&in_a_line(name), NAME)),
        (None, None) => String::new(),
    };
    let of = if notification.is_of_disk_guard() {
        "disk nearly full"
    } else if notification.expiring.is_some() {
        "certificates expire"
    } else {
        alarm_type.as_str()
    };
    format!("{what}: {of} on {}{about}", quoted(instance_name))
}

/// Whoever names a group may put anything into the name.
pub fn in_a_line(name: &str) -> String {
    name.replace(char::is_control, " ")
}

fn quoted(name: &str) -> String {
    format!("\"{name}\"")
}

/// What there is to know besides the message, each with its name.
pub fn facts(notification: &Notification) -> Vec<(&'static str, String)> {
    let of = notification;
    let kind: Option<AlarmType> = of.alarm_type.parse().ok();
    // Of a disk that is nearly full it is said how full.
    let full = of.is_of_disk_guard().then_some(Measure::Percent);
    let left = of.expiring.map(|_| Measure::Days);
    let measure = full.or(left).or(kind.and_then(AlarmType::measure));
    let is_alarm = of.state != NotificationState::Test;
    let all = [
        ("Instance", Some(format!("{} ({})", of.instance_name, of.instance_id))),
        ("Alarm", is_alarm.then(|| of.alarm_type.clone())),
        ("Server", of.server.clone()),
        ("Group", of.group.as_deref().map(in_a_line)),
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

pub fn moment(at: Timestamp) -> String {
    at.strftime("%Y-%m-%d %H:%M:%S UTC").to_string()
}

/// What there is still time for is a warning, and what was planned is news.
pub fn severity(notification: &Notification) -> Severity {
    let kind: Option<AlarmType> = notification.alarm_type.parse().ok();
    match (notification.state, kind) {
        (NotificationState::Test, _) => Severity::Info,
        _ if notification.is_of_disk_guard() => Severity::Critical,
        _ if notification.expiring.is_some() => Severity::Warning,
        (_, Some(AlarmType::Notice)) => match notification.maintenance {
            Some(Maintenance::Emergency) => Severity::Critical,
            Some(Maintenance::Planned) | None => Severity::Info,
        },
        (_, Some(AlarmType::CertificateExpiry | AlarmType::DiskForecast)) => Severity::Warning,
        _ => Severity::Critical,
    }
}

/// When it came to the state of the notification.
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

/// What a service knows an incident by, where names have so many characters. The end of a
/// longer one gives way to a hash of the whole: groups whose names begin alike are two.
pub fn known_by(notification: &Notification, characters: usize) -> String {
    let incident = notification.incident();
    if incident.chars().count() <= characters {
        return incident;
    }
    let mut hash = "-".to_owned();
    for byte in Sha256::digest(incident.as_bytes()).0.into_iter().take(16) {
        write!(hash, "{byte:02x}").expect("a string takes everything");
    }
    let kept = incident.chars().take(characters.saturating_sub(hash.len()));
    kept.chain(hash.chars()).collect()
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
        check(samples::nearly_full(), "Triggered: disk nearly full on \"prod\" server prod-02");
        check(samples::expiring(), "Triggered: certificates expire on \"prod\"");
        check(samples::behind("billing"), "Triggered: consumer_lag on \"prod\" group billing");
        check(samples::behind("a\r\nb"), "Triggered: consumer_lag on \"prod\" group a  b");
        let long = headline(&samples::behind(&"x".repeat(5000)));
        assert_eq!(long.chars().count(), "Triggered: consumer_lag on \"prod\" group ".len() + NAME);
    }

    #[test]
    fn groups_and_disks_are_facts() {
        let fact = |notification: &Notification, name: &str| {
            let found = facts(notification).into_iter().find(|fact| fact.0 == name);
            found.map(|fact| fact.1)
        };
        assert_eq!(fact(&samples::behind("billing"), "Group"), Some("billing".into()));
        assert_eq!(fact(&samples::triggered(), "Group"), None);
        let full = samples::nearly_full();
        assert_eq!(fact(&full, "Server"), Some("prod-02".into()));
        assert_eq!(fact(&full, "Value"), Some("96.5 %".into()));
        assert_eq!(fact(&samples::expiring(), "Value"), Some("6.5 days".into()));
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
        check(samples::nearly_full(), Severity::Critical);
        check(samples::expiring(), Severity::Warning);
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
