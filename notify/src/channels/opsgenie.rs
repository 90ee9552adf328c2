//! Opsgenie's Alert API: <https://docs.opsgenie.com/docs/alert-api>.
//!
//! Alerts with the same alias are one while it is open: a reminder is counted
//! there, and the end closes it. A test opens an alert of its own and closes it;
//! a notice opens one of its own.
//! Lengths: 130 characters in a message, 512 in alias and entity, 15,000 in a
//! description, 8,000 in all details, 50 in a tag, 50 responders.

use super::{HttpRequest, below, document};
use crate::words::{Severity, cut, facts, headline, known_by, place, severity};
use model::{Notification, NotificationState, RecipientOptions};
use reqwest::header::AUTHORIZATION;
use serde_json::{Value, json};
use url::Url;

const SOURCE: &str = "Castellan";

pub fn requests(
    endpoint: &Url,
    key: &str,
    options: &RecipientOptions,
    notification: &Notification,
) -> Option<Vec<HttpRequest>> {
    let alias = known_by(notification, 512);
    let open = || {
        let url = below(endpoint, &["v2", "alerts"]);
        HttpRequest::json(url, &alert(&alias, options, notification))
    };
    let close = || {
        let mut url = below(endpoint, &["v2", "alerts", &alias, "close"]);
        url.query_pairs_mut().append_pair("identifierType", "alias");
        let note = cut(&notification.message, 15_000);
        HttpRequest::json(url, &json!({"source": SOURCE, "note": note}))
    };
    let requests = match notification.state {
        NotificationState::Triggered | NotificationState::Reminder => vec![open()],
        NotificationState::Resolved => vec![close()],
        NotificationState::Test => vec![open(), close()],
    };
    let login = format!("GenieKey {key}");
    requests.into_iter().map(|request| request.header(AUTHORIZATION, &login)).collect()
}

fn alert(alias: &str, options: &RecipientOptions, notification: &Notification) -> Value {
    let details: Vec<_> =
        facts(notification).into_iter().map(|(name, fact)| (name, cut(&fact, 800))).collect();
    let mut alert = json!({
        "message": cut(&headline(notification), 130),
        "alias": alias,
        "description": cut(&notification.message, 15_000),
        "tags": [
            "castellan",
            cut(&notification.alarm_type, 50),
            format!("instance-{}", notification.instance_id),
        ],
        "details": document(details),
        "entity": cut(place(notification), 512),
        "source": SOURCE,
        "priority": match severity(notification) {
            Severity::Critical => "P1",
            Severity::Warning => "P3",
            Severity::Info => "P5",
        },
    });
    if let Some(responders) = &options.responders {
        let responders: Vec<_> = responders.iter().take(50).collect();
        alert["responders"] = json!(responders);
    }
    alert
}

#[cfg(test)]
mod tests {
    use super::super::samples::{bodies, hostile, recipient, shown_in_every_state};
    use model::{RecipientType, Responder};

    #[test]
    fn bodies_in_every_state() {
        let mut recipient = recipient(RecipientType::Opsgenie, "eb243592-faa2-4ba2");
        let team =
            Responder { kind: "team".into(), id: None, name: Some("Kafka".into()), username: None };
        recipient.options.responders = Some(vec![team]);
        insta::assert_snapshot!("opsgenie", shown_in_every_state(&recipient));
    }

    #[test]
    fn europe_is_elsewhere_and_else_the_same() {
        let [world, europe] = [RecipientType::Opsgenie, RecipientType::OpsgenieEu]
            .map(|kind| shown_in_every_state(&recipient(kind, "eb243592-faa2-4ba2")));
        assert_eq!(world.replace("//api.opsgenie.com/", "//api.eu.opsgenie.com/"), europe);
        assert_ne!(world, europe);
    }

    #[test]
    fn texts_fit() {
        let body = &bodies(&recipient(RecipientType::Opsgenie, "x"), &hostile())[0];
        let length = |name: &str| body[name].as_str().unwrap().chars().count();
        assert!(length("message") <= 130);
        assert_eq!(length("description"), 15_000);
    }
}
