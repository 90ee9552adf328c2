//! What people are told of an alarm.

use crate::{
    AlarmId, AlarmType, Expiring, InstanceId, RecipientAddress, RecipientId, Timestamp, words,
};
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
    /// Which certificates near their end, if a notice tells of that. Webhooks get it in
    /// the message alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expiring: Option<Expiring>,
    /// What happened, in a sentence.
    pub message: String,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Maintenance {
    Planned,
    Emergency,
}

words! {
    #[derive(Hash, Serialize, Deserialize)]
    #[serde(rename_all = "lowercase")]
    pub enum NotificationState {
        Triggered = "triggered",
        Resolved = "resolved",
        Reminder = "reminder",
        Test = "test",
    }
}

impl Notification {
    /// Of no alarm: it tells that alarms of an instance would come here.
    pub fn test(id: Uuid, instance_id: InstanceId, instance_name: &str) -> Self {
        Self {
            id,
            state: NotificationState::Test,
            alarm_id: None,
            alarm_type: "test".into(),
            instance_id,
            instance_name: instance_name.into(),
            server: None,
            group: None,
            value: None,
            value_threshold: None,
            time_threshold: None,
            triggered_at: None,
            resolved_at: None,
            maintenance: None,
            expiring: None,
            message: format!("This is a test: alarms of {instance_name} reach you here"),
        }
    }

    /// What services know an incident by: the same from its beginning to its
    /// end, and for its reminders. A test and a notice of maintenance are over with
    /// being told, so each is an incident of its own: none is taken for a repetition
    /// of the one before, and the end of a test closes nothing else.
    pub fn incident(&self) -> String {
        match self.alarm_id {
            Some(_) if self.is_of_maintenance() => format!("castellan-notice-{}", self.id),
            Some(alarm) if self.state != NotificationState::Test => {
                let expiring = self.expiring.map(Expiring::as_str);
                let named = self.server.as_deref().or(self.group.as_deref());
                let about = named.or(expiring).unwrap_or("all");
                format!("castellan-{}-{alarm}-{about}", self.instance_id)
            }
            _ => format!("castellan-test-{}", self.id),
        }
    }

    pub fn is_notice(&self) -> bool {
        self.alarm_type == AlarmType::Notice.as_str()
    }

    /// Whether it is over with being told, unlike other notices.
    fn is_of_maintenance(&self) -> bool {
        self.is_notice() && self.server.is_none() && self.expiring.is_none()
    }

    /// Whether it tells of a disk that is nearly full: by notice alarms as
    /// maintenance is, but of one server, and it has an end.
    pub fn is_of_disk_guard(&self) -> bool {
        self.is_notice() && self.server.is_some()
    }
}

/// A notification on its way to one recipient, as it waits in the outbox.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct QueuedNotification {
    /// By id, because their address may be corrected before it is sent.
    pub recipient_id: RecipientId,
    /// Where they were reached until they were deleted, alone or with their instance, or got
    /// another address; none before that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub address: Option<RecipientAddress>,
    pub notification: Notification,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_incident_has_one_name_until_it_is_over_and_a_notice_is_its_own() {
        let check = |kind: &str, server: Option<&str>, expected: &str| {
            let of = Notification {
                state: NotificationState::Resolved,
                alarm_id: Some(AlarmId(3)),
                alarm_type: kind.into(),
                server: server.map(str::to_owned),
                ..Notification::test(Uuid::from_u128(5), InstanceId(7), "prod")
            };
            assert_eq!(of.incident(), expected);
        };
        check("cpu", Some("prod-02"), "castellan-7-3-prod-02");
        check("offline_partitions", None, "castellan-7-3-all");
        check("notice", None, "castellan-notice-00000000-0000-0000-0000-000000000005");
        check("notice", Some("prod-02"), "castellan-7-3-prod-02");
        let expiring = Notification {
            alarm_id: Some(AlarmId(3)),
            alarm_type: "notice".into(),
            state: NotificationState::Triggered,
            expiring: Some(Expiring::Authorities),
            ..Notification::test(Uuid::from_u128(5), InstanceId(7), "prod")
        };
        assert_eq!(expiring.incident(), "castellan-7-3-authorities");
    }
}
