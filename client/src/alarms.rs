//! Calls of an instance's `alarms` and `alarms/recipients`.

use crate::{Client, Result};
use reqwest::Method;
use wire::alarms::{Alarm, AlarmFields, Incident, Recipient, RecipientFields};

impl Client {
    pub async fn alarms(&self, id: i64) -> Result<Vec<Alarm>> {
        self.call.get(&format!("api/instances/{id}/alarms")).await
    }

    pub async fn alarm(&self, id: i64, alarm: i64) -> Result<Alarm> {
        self.call.get(&format!("api/instances/{id}/alarms/{alarm}")).await
    }

    /// What people were told of it, the latest first.
    pub async fn alarm_history(&self, id: i64, alarm: i64) -> Result<Vec<Incident>> {
        self.call.get(&format!("api/instances/{id}/alarms/{alarm}/history")).await
    }

    pub async fn create_alarm(&self, id: i64, fields: &AlarmFields) -> Result<Alarm> {
        self.call.send(Method::POST, &format!("api/instances/{id}/alarms"), fields).await
    }

    pub async fn update_alarm(&self, id: i64, alarm: i64, fields: &AlarmFields) -> Result<Alarm> {
        self.call.send(Method::PUT, &format!("api/instances/{id}/alarms/{alarm}"), fields).await
    }

    pub async fn delete_alarm(&self, id: i64, alarm: i64) -> Result<()> {
        self.call.delete(&format!("api/instances/{id}/alarms/{alarm}")).await
    }

    pub async fn recipients(&self, id: i64) -> Result<Vec<Recipient>> {
        self.call.get(&format!("api/instances/{id}/alarms/recipients")).await
    }

    pub async fn recipient(&self, id: i64, recipient: i64) -> Result<Recipient> {
        self.call.get(&format!("api/instances/{id}/alarms/recipients/{recipient}")).await
    }

    pub async fn create_recipient(&self, id: i64, fields: &RecipientFields) -> Result<Recipient> {
        let path = format!("api/instances/{id}/alarms/recipients");
        self.call.send(Method::POST, &path, fields).await
    }

    pub async fn update_recipient(
        &self,
        id: i64,
        recipient: i64,
        fields: &RecipientFields,
    ) -> Result<Recipient> {
        let path = format!("api/instances/{id}/alarms/recipients/{recipient}");
        self.call.send(Method::PUT, &path, fields).await
    }

    /// Puts a test on its way; the recipient's last status tells what became of
    /// it.
    pub async fn test_recipient(&self, id: i64, recipient: i64) -> Result<()> {
        let path = format!("api/instances/{id}/alarms/recipients/{recipient}/test");
        self.call.post_for_nothing(&path).await
    }

    pub async fn delete_recipient(&self, id: i64, recipient: i64) -> Result<()> {
        self.call.delete(&format!("api/instances/{id}/alarms/recipients/{recipient}")).await
    }
}
