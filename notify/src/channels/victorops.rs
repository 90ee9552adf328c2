//! VictorOps, now Splunk On-Call, by its REST endpoint:
//! <https://help.splunk.com/en/splunk-observability-cloud/splunk-on-call/integrations-with-splunk-on-call/rest-endpoint-integration-for-splunk-on-call>.
//!
//! Messages with the same `entity_id` are of one incident; `RECOVERY` ends it,
//! and `INFO` stands in the timeline without opening any, as a test and planned
//! maintenance should. Whether `WARNING` opens one is up to the customer's
//! settings, so alarms don't say it.
//! Lengths: 512 characters in an id, 20,480 in a message.

use super::{HttpRequest, below, document};
use crate::words::{Severity, cut, facts, headline, known_by, place, severity, since};
use model::{Notification, NotificationState, RecipientOptions};
use url::Url;

/// Messages whose routing key nobody set up take the default way.
const NO_ROUTE: &str = "default";

pub fn request(
    endpoint: &Url,
    key: &str,
    options: &RecipientOptions,
    notification: &Notification,
) -> HttpRequest {
    let route = options.rk.as_deref().filter(|route| !route.is_empty()).unwrap_or(NO_ROUTE);
    let path = ["integrations", "generic", "20131114", "alert", key, route];
    let mut body = document(facts(notification));
    let mut set = |name: &str, value: String| body.insert(name.into(), value.into());
    set("message_type", message_type(notification).into());
    set("entity_id", known_by(notification, 512));
    set("entity_display_name", cut(&headline(notification), 512));
    set("state_message", cut(&notification.message, 20_480));
    set("monitoring_tool", "Castellan".into());
    set("host_name", place(notification).into());
    if let Some(since) = since(notification) {
        body.insert("state_start_time".into(), since.as_second().into());
    }
    HttpRequest::json(below(endpoint, &path), &body.into())
}

fn message_type(notification: &Notification) -> &'static str {
    match (notification.state, severity(notification)) {
        (NotificationState::Resolved, _) => "RECOVERY",
        (_, Severity::Info) => "INFO",
        (_, Severity::Critical | Severity::Warning) => "CRITICAL",
    }
}

#[cfg(test)]
mod tests {
    use super::super::samples::{
        bodies, notice, recipient, shown, shown_in_every_state, triggered,
    };
    use model::{Maintenance, RecipientType};

    #[test]
    fn bodies_in_every_state() {
        let mut recipient = recipient(RecipientType::Victorops, "d7a6b0c1-36437");
        recipient.options.rk = Some("database".into());
        insta::assert_snapshot!("victorops", shown_in_every_state(&recipient));
    }

    #[test]
    fn planned_maintenance_opens_no_incident() {
        let recipient = recipient(RecipientType::Victorops, "key");
        for (kind, expected) in
            [(Maintenance::Planned, "INFO"), (Maintenance::Emergency, "CRITICAL")]
        {
            let body = &bodies(&recipient, &notice(1, kind))[0];
            assert_eq!(body["message_type"], expected);
        }
    }

    #[test]
    fn the_routing_key_is_the_end_of_the_path() {
        let check = |rk: Option<&str>, expected: &str| {
            let mut recipient = recipient(RecipientType::Victorops, "key");
            recipient.options.rk = rk.map(str::to_owned);
            let shown = shown(&recipient, &triggered());
            let (_, path) = shown.lines().next().unwrap().split_once("/alert/").unwrap();
            assert_eq!(path, expected);
        };
        check(Some("database"), "key/database");
        check(Some("a/b ?c"), "key/a%2Fb%20%3Fc");
        check(Some(""), "key/default");
        check(None, "key/default");
    }
}
