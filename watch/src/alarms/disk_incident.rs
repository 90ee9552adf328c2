//! Notifications of a disk that is nearly full: by every notice alarm, as one
//! incident of its server, which is open until there is room again.
//!
//! They follow from the open incidents and never from earlier notifications: an alarm
//! that was made or switched on meanwhile notifies at the next sample, and so does
//! one whose incident ended because the server was stopped, once it runs again.

use super::notice_incident::{Sight, is_reminder_due, notice_alarms, open_incident, step};
use crate::{Context, Result};
use model::{
    AlarmSpec, DiskLevel, Incident, Instance, NotificationState, SLOW_BYTES_PER_SECOND, Server,
    Timestamp,
};
use store::{Run, Work, incidents};

/// How full the disk of a server is by a sample, and its level before and after that.
pub struct Full<'a> {
    pub server: &'a Server,
    pub at: Timestamp,
    pub percent: f64,
    pub was: Option<DiskLevel>,
    pub is: Option<DiskLevel>,
}

impl Full<'_> {
    /// Whether there is anything to notify somebody of.
    pub async fn is_due(&self, run: &mut impl Run) -> Result<bool> {
        let open = incidents::open(run, self.server.instance_id).await?;
        let watched = notice_alarms(run, self.server.instance_id).await?;
        Ok(watched.iter().any(|alarm| {
            self.next(&alarm.what, open_incident(alarm, &self.server.name, &open)).is_some()
        }))
    }

    /// Writes the notifications, in the transaction of the level.
    pub async fn enqueue(
        &self,
        work: &mut Work,
        context: &Context,
        instance: &Instance,
    ) -> Result<()> {
        let open = incidents::open(work, instance.id).await?;
        let (about, message) = (self.server.name.as_str(), self.words(instance));
        let sight = Sight { about, at: self.at, value: Some(self.percent), message };
        for alarm in notice_alarms(work, instance.id).await? {
            let was = open_incident(&alarm, about, &open);
            if let Some(state) = self.next(&alarm.what, was) {
                step(work, context, instance, &alarm, was, state, &sight).await?;
            }
        }
        Ok(())
    }

    /// A worse level than the one before is notified as the first one is.
    fn next(&self, spec: &AlarmSpec, open: Option<&Incident>) -> Option<NotificationState> {
        let Some(open) = open else { return self.is.map(|_| NotificationState::Triggered) };
        if self.is.is_none() {
            return Some(NotificationState::Resolved);
        }
        if self.is > self.was {
            return Some(NotificationState::Triggered);
        }
        is_reminder_due(spec, open, self.at).then_some(NotificationState::Reminder)
    }

    fn words(&self, instance: &Instance) -> String {
        let disk = format!("The disk of {} of {}", self.server.name, instance.name);
        let full = format!("is {} % full", self.percent.floor());
        let remedy = "Shorten the retention of topics or delete some";
        let (slowed, free) = DiskLevel::Slowed.percents();
        match self.is {
            None => format!("{disk} has room again: it {full}"),
            Some(DiskLevel::High) => {
                format!("{disk} {full}; from {slowed} % on producers are slowed down. {remedy}")
            }
            Some(DiskLevel::Slowed) => format!(
                "{disk} {full}: producers are slowed down to {:.0} KiB a second each until it is \
                 below {free} %. {remedy}",
                SLOW_BYTES_PER_SECOND / 1024.0
            ),
        }
    }
}
