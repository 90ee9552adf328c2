//! PagerDuty's Events API v2:
//! <https://developer.pagerduty.com/docs/send-alert-event>.
//!
//! Events with the same key are of one incident: a reminder says so again, and
//! the end resolves it. A test opens an incident of its own and closes it; a
//! notice opens one of its own.
//! Lengths: 1,024 characters in a summary, 255 in a key.

use super::{HttpRequest, below, document};
use crate::words::{Severity, cut, facts, headline, known_by, place, severity, since};
use model::{Notification, NotificationState, RecipientOptions};
use serde_json::{Value, json};
use url::Url;

pub fn requests(
    endpoint: &Url,
    key: &str,
    options: &RecipientOptions,
    notification: &Notification,
) -> Vec<HttpRequest> {
    let url = below(endpoint, &["v2", "enqueue"]);
    // The chosen key may have an incident under way, which a test must not close
    // and in which a notice would not be seen; and a notice of maintenance has no end
    // that would close it for the alarms after it.
    let is_apart = notification.state == NotificationState::Test || notification.is_notice();
    let incident = match options.shared_key().filter(|_| !is_apart) {
        Some(chosen) => cut(chosen, 255),
        None => known_by(notification, 255),
    };
    let event = |action: &str| {
        let mut event = json!({
            "routing_key": key,
            "event_action": action,
            "dedup_key": incident,
        });
        if action == "trigger" {
            event["client"] = "Castellan".into();
            event["payload"] = payload(notification);
        }
        HttpRequest::json(url.clone(), &event)
    };
    match notification.state {
        NotificationState::Triggered | NotificationState::Reminder => vec![event("trigger")],
        NotificationState::Resolved => vec![event("resolve")],
        NotificationState::Test => vec![event("trigger"), event("resolve")],
    }
}

fn payload(notification: &Notification) -> Value {
    let mut details = document(facts(notification));
    details.insert("Message".into(), cut(&notification.message, 10_000).into());
    let mut payload = json!({
        "summary": cut(&headline(notification), 1024),
        "source": place(notification),
        "severity": match severity(notification) {
            Severity::Critical => "critical",
            Severity::Warning => "warning",
            Severity::Info => "info",
        },
        "component": "kafka",
        "group": notification.instance_name,
        "class": notification.alarm_type,
        "custom_details": details,
    });
    if let Some(since) = since(notification) {
        payload["timestamp"] = since.to_string().into();
    }
    payload
}

#[cfg(test)]
mod tests {
    use super::super::samples::{
        bodies, notice, recipient, reminder, resolved, shown_in_every_state, test, triggered,
    };
    use model::{Maintenance, RecipientType};

    const KEY: &str = "e93facc04764012d7bfb002500d5d1a6";

    #[test]
    fn bodies_in_every_state() {
        let recipient = recipient(RecipientType::Pagerduty, KEY);
        insta::assert_snapshot!("pagerduty", shown_in_every_state(&recipient));
    }

    #[test]
    fn a_chosen_key_is_for_all_alarms() {
        let mut recipient = recipient(RecipientType::Pagerduty, KEY);
        recipient.options.dedupkey = Some("ours".into());
        for (notification, expected) in [
            (triggered(), "ours"),
            (resolved(), "ours"),
            (reminder(), "ours"),
            (test(), "castellan-test-00000000-0000-0000-0000-000012345678"),
            (
                notice(5, Maintenance::Planned),
                "castellan-notice-00000000-0000-0000-0000-000000000005",
            ),
        ] {
            for body in bodies(&recipient, &notification) {
                assert_eq!(body["dedup_key"], expected);
            }
        }
        recipient.options.dedupkey = Some(String::new());
        assert_eq!(bodies(&recipient, &triggered())[0]["dedup_key"], "castellan-7-3-prod-02");
    }
}
