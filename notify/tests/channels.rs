//! Every way of telling people, to receivers that hold each call against what
//! the service documents.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod fixture;

use fixture::{NoMail, notification, notifier, recipient, send, settings};
use model::{Maintenance, Notification, NotificationState, RecipientType, Responder, Secret};
use notify::{Endpoints, Sender, Settings, Smtp, SmtpSettings};
use serde_json::Value;
use std::sync::Arc;
use std::time::Duration;
use test_support::receiver::Receiver;
use uuid::Uuid;

const STATES: [NotificationState; 4] = [
    NotificationState::Triggered,
    NotificationState::Reminder,
    NotificationState::Resolved,
    NotificationState::Test,
];

/// Settings by which every service is at one receiver.
fn all_at(port: u16) -> Settings {
    let at = || format!("http://127.0.0.1:{port}").parse().unwrap();
    let endpoints = Endpoints {
        pagerduty: at(),
        opsgenie: at(),
        opsgenie_eu: at(),
        victorops: at(),
        signl4: at(),
    };
    Settings { endpoints, ..settings() }
}

/// Tells of every state, and returns the bodies that came for each of them.
async fn told(kind: RecipientType, options: &[(&str, &str)], calls: [usize; 4]) -> Vec<Vec<Value>> {
    let mut receiver = Receiver::of_calls(options);
    let value = match kind {
        RecipientType::Webhook | RecipientType::Slack | RecipientType::Teams => {
            format!("http://127.0.0.1:{}/services/T0?sig=x", receiver.port)
        }
        _ => "0123456789abcdef0123456789abcdef".into(),
    };
    let mut recipient = recipient(kind, &value);
    let option = |name: &str| options.iter().find(|(own, _)| *own == name).map(|(_, value)| *value);
    recipient.options.rk = option("route").map(str::to_owned);
    recipient.options.secret = option("secret").map(Secret::new);
    let user = Responder {
        kind: "user".into(),
        id: None,
        name: None,
        username: Some("ada@example.com".into()),
    };
    recipient.options.responders = Some(vec![user]);
    let notifier = notifier(all_at(receiver.port), Arc::new(NoMail));
    let mut seen = Vec::new();
    for (state, calls) in STATES.into_iter().zip(calls) {
        for hostile in [false, true] {
            send(&notifier, &recipient, &notification(state, hostile)).await.unwrap();
            let all: Vec<Value> = (0..calls).map(|_| receiver.next()).collect();
            for call in &all {
                assert_eq!(call["problems"], serde_json::json!([]), "{kind}: {call:#}");
                let agent = call["headers"]["user-agent"].as_str().unwrap();
                assert!(agent.starts_with("Castellan/"), "{agent}");
            }
            if !hostile {
                let body = |call: &Value| serde_json::from_str(call["raw"].as_str().unwrap());
                seen.push(all.iter().map(|call| body(call).unwrap()).collect());
            }
        }
    }
    assert_eq!(receiver.rest(), [] as [Value; 0], "calls too many");
    seen
}

/// One field of each body, for each state.
fn field(seen: &[Vec<Value>], name: &str) -> Vec<Vec<String>> {
    let text = |body: &Value| body[name].as_str().unwrap_or("-").to_owned();
    seen.iter().map(|bodies| bodies.iter().map(text).collect()).collect()
}

#[tokio::test]
async fn webhook() {
    let seen = told(RecipientType::Webhook, &[("as", "webhook")], [1; 4]).await;
    assert_eq!(field(&seen, "state"), [["triggered"], ["reminder"], ["resolved"], ["test"]]);
    let whole = serde_json::to_value(notification(NotificationState::Triggered, false)).unwrap();
    assert_eq!(seen[0], [whole]);
    told(RecipientType::Webhook, &[("as", "webhook"), ("secret", "hünter2")], [1; 4]).await;
}

#[tokio::test]
async fn a_signature_is_of_its_own_secret() {
    let mut receiver = Receiver::of_calls(&[("as", "webhook"), ("secret", "another")]);
    let mut recipient =
        recipient(RecipientType::Webhook, &format!("http://127.0.0.1:{}/", receiver.port));
    recipient.options.secret = Some(Secret::new("hunter2"));
    let notifier = notifier(settings(), Arc::new(NoMail));
    let triggered = notification(NotificationState::Triggered, false);
    let refused = send(&notifier, &recipient, &triggered).await.unwrap_err().to_string();
    assert_eq!(refused, "127.0.0.1 answered 400");
    let problems = receiver.next()["problems"].to_string();
    assert!(problems.contains("signature is sha256="), "{problems}");
}

#[tokio::test]
async fn a_login_in_the_address_becomes_a_header() {
    let mut receiver = Receiver::of_calls(&[]);
    let url = format!("http://ada:p%40ss%20word@127.0.0.1:{}/x?y=z#part", receiver.port);
    let notifier = notifier(settings(), Arc::new(NoMail));
    let triggered = notification(NotificationState::Triggered, false);
    send(&notifier, &recipient(RecipientType::Webhook, &url), &triggered).await.unwrap();
    let call = receiver.next();
    assert_eq!(call["path"], "/x?y=z");
    assert_eq!(call["headers"]["host"], format!("127.0.0.1:{}", receiver.port));
    // Python: base64.b64encode(b"ada:p@ss word")
    assert_eq!(call["headers"]["authorization"], "Basic YWRhOnBAc3Mgd29yZA==");
    assert_eq!(call["headers"].get("referer"), None);
}

#[tokio::test]
async fn slack() {
    told(RecipientType::Slack, &[("as", "slack")], [1; 4]).await;
}

#[tokio::test]
async fn teams() {
    told(RecipientType::Teams, &[("as", "teams")], [1; 4]).await;
}

#[tokio::test]
async fn pagerduty() {
    let options = [("as", "pagerduty"), ("key", "0123456789abcdef0123456789abcdef")];
    let seen = told(RecipientType::Pagerduty, &options, [1, 1, 1, 2]).await;
    let expected = [vec!["trigger"], vec!["trigger"], vec!["resolve"], vec!["trigger", "resolve"]];
    assert_eq!(field(&seen, "event_action"), expected);
    assert_one_incident(&field(&seen, "dedup_key"));
    assert_eq!(seen[3][0]["payload"]["severity"], "info");
}

#[tokio::test]
async fn opsgenie() {
    let options = [("as", "opsgenie"), ("key", "0123456789abcdef0123456789abcdef")];
    for kind in [RecipientType::Opsgenie, RecipientType::OpsgenieEu] {
        let seen = told(kind, &options, [1, 1, 1, 2]).await;
        assert_eq!(seen[0][0]["alias"], seen[1][0]["alias"]);
        assert_eq!(seen[0][0]["responders"][0]["username"], "ada@example.com");
        assert_eq!(seen[3][0]["priority"], "P5");
    }
}

#[tokio::test]
async fn victorops() {
    let key = ("key", "0123456789abcdef0123456789abcdef");
    let seen =
        told(RecipientType::Victorops, &[("as", "victorops"), key, ("route", "database")], [1; 4])
            .await;
    let expected = [["CRITICAL"], ["CRITICAL"], ["RECOVERY"], ["INFO"]];
    assert_eq!(field(&seen, "message_type"), expected);
    assert_one_incident(&field(&seen, "entity_id"));
}

#[tokio::test]
async fn signl4() {
    let options = [("as", "signl4"), ("key", "0123456789abcdef0123456789abcdef")];
    let seen = told(RecipientType::Signl4, &options, [1, 1, 1, 2]).await;
    let expected = [vec!["new"], vec!["new"], vec!["resolved"], vec!["new", "resolved"]];
    assert_eq!(field(&seen, "X-S4-Status"), expected);
    assert_one_incident(&field(&seen, "X-S4-ExternalID"));
}

#[tokio::test]
async fn planned_maintenance_is_news_and_an_emergency_is_not() {
    let key = "0123456789abcdef0123456789abcdef";
    let options = [("as", "victorops"), ("key", key), ("route", "database")];
    let mut receiver = Receiver::of_calls(&options);
    let mut recipient = recipient(RecipientType::Victorops, key);
    recipient.options.rk = Some("database".into());
    let notifier = notifier(all_at(receiver.port), Arc::new(NoMail));
    let mut ids = Vec::new();
    for (number, kind, expected) in [
        (1, Maintenance::Planned, "INFO"),
        (2, Maintenance::Emergency, "CRITICAL"),
        (3, Maintenance::Emergency, "CRITICAL"),
    ] {
        let notice = Notification {
            id: Uuid::from_u128(number),
            alarm_type: "notice".into(),
            maintenance: Some(kind),
            server: None,
            ..notification(NotificationState::Triggered, false)
        };
        send(&notifier, &recipient, &notice).await.unwrap();
        let call = receiver.next();
        assert_eq!(call["problems"], serde_json::json!([]), "{call:#}");
        let body: Value = serde_json::from_str(call["raw"].as_str().unwrap()).unwrap();
        assert_eq!(body["message_type"], expected);
        ids.push(body["entity_id"].clone());
    }
    assert_ne!(ids[1], ids[2], "the second one is not taken for the first");
}

/// From its beginning to its end; a test is another.
fn assert_one_incident(keys: &[Vec<String>]) {
    assert_eq!((&keys[0], &keys[0]), (&keys[1], &keys[2]));
    assert!(keys[3].iter().all(|key| *key == keys[3][0] && *key != keys[0][0]), "{keys:?}");
}

#[tokio::test]
async fn email() {
    let mut server = Receiver::of_mail(&[]);
    let smtp = SmtpSettings {
        url: Secret::new(format!("smtp://127.0.0.1:{}", server.port)),
        from: Sender::parse("Castellan <castellan@example.com>").unwrap(),
        authority_pem: None,
        timeout: Duration::from_secs(30),
    };
    let notifier = notifier(settings(), Arc::new(Smtp::new(smtp).unwrap()));
    let ada = recipient(RecipientType::Email, "ada@example.com");
    for state in STATES {
        let mut told = notification(state, state == NotificationState::Reminder);
        told.message.truncate(158);
        send(&notifier, &ada, &told).await.unwrap();
        let got = server.next();
        assert_eq!(got["to"], serde_json::json!(["ada@example.com"]));
        let parts = got["parts"].as_array().unwrap();
        let kinds: Vec<&str> = parts.iter().map(|part| part["type"].as_str().unwrap()).collect();
        assert_eq!(kinds, ["multipart/alternative", "text/plain", "text/html"]);
        let text = parts[1]["text"].as_str().unwrap().replace("\r\n", "\n");
        assert!(text.starts_with(&format!("{}\n\nInstance: ", told.message)), "{text}");
        let html = parts[2]["text"].as_str().unwrap();
        assert!(html.contains("<h1") && !html.contains("<script>"), "{html}");
        let subject = got["subject"].as_str().unwrap();
        match state {
            NotificationState::Triggered => {
                assert_eq!(subject, "[Castellan] Triggered: cpu on \"prod\" server prod-02");
            }
            _ => assert!(subject.starts_with("[Castellan] "), "{subject}"),
        }
    }
}
