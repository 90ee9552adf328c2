//! What people are told of a disk that is nearly full: by every notice alarm, as one
//! incident of its server, which is open until there is room again.
//!
//! What is told follows from what is open and never from what was told before: an alarm
//! that was made or switched on meanwhile tells of it at the next sample, and so does
//! one whose incident ended because the server was stopped, once it runs again.

use super::latest;
use super::tell::tell;
use crate::alarms::notice::notice_alarms;
use crate::metrics::AHEAD;
use crate::{App, Result};
use model::{
    Alarm, AlarmSpec, DiskLevel, Incident, Instance, NotificationState, SLOW_BYTES_PER_SECOND,
    Server, SignedDuration, Timestamp,
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
    /// Whether somebody is to be told.
    pub async fn is_due(&self, run: &mut impl Run) -> Result<bool> {
        let open = incidents::open(run, self.server.instance_id).await?;
        let watched = notice_alarms(run, self.server.instance_id).await?;
        Ok(watched.iter().any(|alarm| self.next(&alarm.what, self.open_of(alarm, &open)).is_some()))
    }

    /// Tells them, in the transaction of the level.
    pub async fn tell(&self, work: &mut Work, app: &App, instance: &Instance) -> Result<()> {
        let open = incidents::open(work, instance.id).await?;
        for alarm in notice_alarms(work, instance.id).await? {
            let was = self.open_of(&alarm, &open);
            if let Some(state) = self.next(&alarm.what, was) {
                self.step(work, app, instance, &alarm, was, state).await?;
            }
        }
        Ok(())
    }

    fn open_of<'a>(&self, alarm: &Alarm, open: &'a [Incident]) -> Option<&'a Incident> {
        open.iter().find(|it| it.alarm_id == alarm.id && it.about == self.server.name)
    }

    /// A level that is worse than the one before is told as the first one is.
    fn next(&self, spec: &AlarmSpec, open: Option<&Incident>) -> Option<NotificationState> {
        let Some(open) = open else { return self.is.map(|_| NotificationState::Triggered) };
        if self.is.is_none() {
            return Some(NotificationState::Resolved);
        }
        if self.is > self.was {
            return Some(NotificationState::Triggered);
        }
        let told = open.reminded_at.or(open.triggered_at)?;
        let due = spec.reminder_interval.map(SignedDuration::from_secs)?;
        let since = self.at.duration_since(told);
        // One that is far ahead was made before a clock was set back.
        let is_due = since >= due || since.as_secs() < -AHEAD;
        is_due.then_some(NotificationState::Reminder)
    }

    async fn step(
        &self,
        work: &mut Work,
        app: &App,
        instance: &Instance,
        alarm: &Alarm,
        open: Option<&Incident>,
        state: NotificationState,
    ) -> Result<()> {
        let was = match open {
            Some(open) => Some(open.clone()),
            None => self.begin(work, app, alarm).await?,
        };
        let Some(was) = was else { return Ok(()) };
        // That it got worse reminds of it too.
        let is_again = open.is_some() && state != NotificationState::Resolved;
        let is = Incident {
            triggered_at: was.triggered_at.or(Some(self.at)),
            reminded_at: if is_again { Some(self.at) } else { was.reminded_at },
            resolved_at: (state == NotificationState::Resolved).then_some(self.at),
            value: Some(self.percent),
            message: self.words(instance),
            ..was.clone()
        };
        if incidents::advance(work, &was, &is).await? {
            tell(work, app, instance, alarm, &is, state).await?;
            incidents::tidy(work, instance.id, alarm.id, app.now()).await?;
        }
        Ok(())
    }

    /// None if one of it ended at that time or later.
    async fn begin(&self, work: &mut Work, app: &App, alarm: &Alarm) -> Result<Option<Incident>> {
        let Server { instance_id, name, .. } = self.server;
        let latest = latest(app);
        if incidents::was_over_at(work, *instance_id, alarm.id, name, self.at, latest).await? {
            return Ok(None);
        }
        let value = Some(self.percent);
        Ok(incidents::begin(work, *instance_id, alarm.id, name, self.at, value).await?)
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
