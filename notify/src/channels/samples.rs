//! What the tests of channels tell, and how they show what would be sent.

use super::{HttpRequest, requests};
use crate::settings::Endpoints;
use model::{
    AlarmId, Expiring, InstanceId, Maintenance, Notification, NotificationState, Recipient,
    RecipientId, RecipientOptions, RecipientType, Secret, Timestamp,
};
use serde_json::Value;
use uuid::Uuid;

pub fn now() -> Timestamp {
    "2026-11-15T12:30:00Z".parse().unwrap()
}

pub fn triggered() -> Notification {
    Notification {
        id: Uuid::from_u128(0x1234_5678),
        state: NotificationState::Triggered,
        alarm_id: Some(AlarmId(3)),
        alarm_type: "cpu".into(),
        instance_id: InstanceId(7),
        instance_name: "prod".into(),
        server: Some("prod-02".into()),
        group: None,
        value: Some(97.5),
        value_threshold: Some(90),
        time_threshold: Some(600),
        triggered_at: Some("2026-11-15T12:00:00Z".parse().unwrap()),
        resolved_at: None,
        maintenance: None,
        expiring: None,
        message: "cpu of prod-02 is at 97.5 %, above 90 % for 600 s".into(),
    }
}

pub fn resolved() -> Notification {
    Notification {
        state: NotificationState::Resolved,
        value: Some(12.0),
        resolved_at: Some("2026-11-15T12:20:00Z".parse().unwrap()),
        message: "cpu of prod-02 is at 12 % again".into(),
        ..triggered()
    }
}

pub fn reminder() -> Notification {
    Notification { state: NotificationState::Reminder, ..triggered() }
}

pub fn test() -> Notification {
    Notification {
        state: NotificationState::Test,
        alarm_id: None,
        alarm_type: "test".into(),
        server: None,
        value: None,
        value_threshold: None,
        time_threshold: None,
        triggered_at: None,
        message: "Alarms of prod reach this recipient".into(),
        ..triggered()
    }
}

/// One of several notices, told apart by their number.
pub fn notice(number: u128, kind: Maintenance) -> Notification {
    Notification {
        id: Uuid::from_u128(number),
        alarm_type: "notice".into(),
        server: None,
        value: None,
        value_threshold: None,
        time_threshold: None,
        maintenance: Some(kind),
        message: "Sunday 03:00 UTC: this host is rebooted".into(),
        ..triggered()
    }
}

/// A disk that is nearly full, as notice alarms notify of it.
pub fn nearly_full() -> Notification {
    Notification {
        alarm_type: "notice".into(),
        value: Some(96.5),
        value_threshold: None,
        time_threshold: None,
        message: "The disk of prod-02 of prod is 96 % full".into(),
        ..triggered()
    }
}

/// Certificates near their end, as notice alarms notify of them.
pub fn expiring() -> Notification {
    Notification {
        alarm_type: "notice".into(),
        server: None,
        value: Some(6.5),
        value_threshold: None,
        time_threshold: None,
        expiring: Some(Expiring::ClientCertificates),
        message: "Client certificates of prod end soon: orders (2026-11-22 00:30 UTC)".into(),
        ..triggered()
    }
}

/// A group that is too far behind.
pub fn behind(group: &str) -> Notification {
    Notification {
        alarm_type: "consumer_lag".into(),
        server: None,
        group: Some(group.into()),
        ..triggered()
    }
}

/// What somebody might call things to have them read as something else.
pub fn hostile() -> Notification {
    Notification {
        instance_name: "<b>&\"x\"</b> <!channel> [a](http://evil.test) *y*".into(),
        server: Some("<script>".into()),
        message: "</td><img src=x> \u{1f389} ".repeat(2000),
        ..triggered()
    }
}

pub fn recipient(kind: RecipientType, value: &str) -> Recipient {
    Recipient {
        id: RecipientId(1),
        kind,
        value: Secret::new(value),
        name: String::new(),
        options: RecipientOptions::default(),
        updated: false,
        last_status: None,
    }
}

/// What a recipient would be sent, to be read by people.
pub fn shown(recipient: &Recipient, notification: &Notification) -> String {
    let requests = requests(&Endpoints::default(), recipient, notification, now()).unwrap();
    let each = |request: &HttpRequest| {
        let headers = request.headers.iter();
        let headers: Vec<String> =
            headers.map(|(name, value)| format!("{name}: {}", value.to_str().unwrap())).collect();
        let body: Value = serde_json::from_slice(&request.body).unwrap();
        format!("POST {}\n{}\n\n{body:#}\n\n", request.url, headers.join("\n"))
    };
    requests.iter().map(each).collect()
}

/// The same for each state.
pub fn shown_in_every_state(recipient: &Recipient) -> String {
    let states = [triggered(), resolved(), reminder(), test()];
    let each = |notification: &Notification| {
        format!("# {}\n\n{}", notification.state.as_str(), shown(recipient, notification))
    };
    states.iter().map(each).collect()
}

/// What would be sent, as the documents that they are.
pub fn bodies(recipient: &Recipient, notification: &Notification) -> Vec<Value> {
    let requests = requests(&Endpoints::default(), recipient, notification, now()).unwrap();
    requests.iter().map(|request| serde_json::from_slice(&request.body).unwrap()).collect()
}
