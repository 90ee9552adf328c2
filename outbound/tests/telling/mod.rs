//! Notifiers, recipients and things to tell, for tests.

use async_trait::async_trait;
use model::{
    AlarmId, InstanceId, ManualClock, MessageId, Notification, NotificationState, Recipient,
    RecipientId, RecipientOptions, RecipientType, Secret, Timestamp,
};
use outbound::{Mailer, Notifier, NotifyError, OutboundSettings, Outgoing, SendError, Sent};
use std::sync::Arc;
use std::time::Duration;
use uuid::Uuid;

pub struct NoMail;

#[async_trait]
impl Mailer for NoMail {
    async fn send(&self, _: Outgoing<'_>) -> Result<Sent, SendError> {
        unreachable!("nobody here is told by mail")
    }
}

pub fn now() -> Timestamp {
    "2026-11-15T12:30:00Z".parse().unwrap()
}

/// Receivers are on this machine, and slow at times.
pub fn settings() -> OutboundSettings {
    OutboundSettings {
        allow_private_addresses: true,
        timeout: Duration::from_mins(1),
        ..OutboundSettings::default()
    }
}

pub fn notifier(settings: OutboundSettings, mailer: Arc<dyn Mailer>) -> Notifier {
    Notifier::new(settings, mailer, Arc::new(ManualClock::at(now()))).unwrap()
}

pub async fn tell(
    notifier: &Notifier,
    recipient: &Recipient,
    notification: &Notification,
) -> Result<(), NotifyError> {
    notifier.notify(MessageId(7), now(), recipient, notification, &[]).await
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

/// One that is hostile is longer than services take, and made to be read as
/// something else.
pub fn notification(state: NotificationState, hostile: bool) -> Notification {
    let test = state == NotificationState::Test;
    let at = |text: &str| Some(text.parse().unwrap());
    let mut told = Notification {
        id: Uuid::from_u128(0x1234_5678_9abc),
        state,
        alarm_id: (!test).then_some(AlarmId(3)),
        alarm_type: if test { "test" } else { "cpu" }.into(),
        instance_id: InstanceId(7),
        instance_name: "prod".into(),
        server: (!test).then(|| "prod-02".into()),
        group: None,
        value: (!test).then_some(97.5),
        value_threshold: (!test).then_some(90),
        time_threshold: (!test).then_some(600),
        triggered_at: if test { None } else { at("2026-11-15T12:00:00Z") },
        resolved_at: None,
        maintenance: None,
        expiring: None,
        message: "cpu of prod-02 is at 97.5 %, above 90 % for 600 s".into(),
    };
    if state == NotificationState::Resolved {
        told.resolved_at = at("2026-11-15T12:20:00Z");
    }
    if hostile {
        told.instance_name = "<script>&\"Söhne\" <!channel> [a](http://evil.test)".into();
        "<script>& \u{1f389} ".repeat(1000).trim_end().clone_into(&mut told.message);
    }
    told
}
