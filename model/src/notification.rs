//! What people are told of an alarm.

use crate::{AlarmId, AlarmType, InstanceId, RecipientId, Timestamp};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// One thing to tell. As a document it is the body that webhooks get, and what
/// waits in the outbox.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Notification {
    /// The same at every attempt.
    pub id: Uuid,
    pub state: NotificationState,
    /// None in a test.
    pub alarm_id: Option<AlarmId>,
    /// The type's name in the API; `test` in a test.
    pub alarm_type: String,
    pub instance_id: InstanceId,
    pub instance_name: String,
    /// The name of the server it is about, if it is about one.
    pub server: Option<String>,
    /// The consumer group it is about, if it is about one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<String>,
    pub value: Option<f64>,
    pub value_threshold: Option<i64>,
    pub time_threshold: Option<i64>,
    pub triggered_at: Option<Timestamp>,
    pub resolved_at: Option<Timestamp>,
    /// Of which kind the maintenance is that a notice tells of. Webhooks get it
    /// in the message alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub maintenance: Option<Maintenance>,
    /// What happened, in a sentence.
    pub message: String,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Maintenance {
    Planned,
    Emergency,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum NotificationState {
    Triggered,
    Resolved,
    Reminder,
    Test,
}

impl NotificationState {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Triggered => "triggered",
            Self::Resolved => "resolved",
            Self::Reminder => "reminder",
            Self::Test => "test",
        }
    }
}

impl Notification {
    /// What services know an incident by: the same from its beginning to its
    /// end, and for its reminders. A test and a notice are over with being told,
    /// so each is an incident of its own: none is taken for a repetition of the
    /// one before, and the end of a test closes nothing else.
    pub fn incident(&self) -> String {
        match self.alarm_id {
            Some(_) if self.is_notice() => format!("castellan-notice-{}", self.id),
            Some(alarm) if self.state != NotificationState::Test => {
                let about = self.server.as_deref().or(self.group.as_deref()).unwrap_or("all");
                format!("castellan-{}-{alarm}-{about}", self.instance_id)
            }
            _ => format!("castellan-test-{}", self.id),
        }
    }

    pub fn is_notice(&self) -> bool {
        self.alarm_type == AlarmType::Notice.as_str()
    }
}

/// A notification on its way to one recipient, as it waits in the outbox.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Telling {
    /// Whoever they are by then: an address may be put right meanwhile.
    pub recipient_id: RecipientId,
    pub notification: Notification,
}
