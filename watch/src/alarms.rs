//! Watching: every sample against every alarm of its instance, servers that are silent,
//! and certificates that near their end.
//!
//! What it needs to go on is in the store; this memory only knows when a value
//! was last seen, to tell a level that held from one that nobody looked at, and which
//! disks had room a moment ago. Samples that agents send again are looked at again,
//! and what came of them before is in the store.

mod disk_guard;
mod disk_incident;
mod enqueue;
mod excused_silence;
mod expiry;
mod expiry_words;
mod forecast;
mod judge;
mod lag;
mod level;
mod notice_incident;
mod removed;
mod silence;
mod step;
mod words;

pub use enqueue::{enqueue, enqueue_for_change, enqueue_for_leaver, enqueue_for_newcomer};
pub use notice_incident::notice_alarms;
pub use step::{stop_measuring, stop_watching, stop_watching_others};

use crate::metrics::AHEAD;
use crate::{Context, Result};
use disk_guard::Roomy;
use excused_silence::ExcusedSilence;
use forecast::{Forecast, Patience};
use judge::{Level, judge};
use model::{
    Alarm, AlarmId, AlarmType, Incident, InstanceId, SAMPLE_SECONDS, Series, ServerId,
    SignedDuration, Timestamp,
};
use series::Sample;
use std::collections::HashMap;
use step::{Seen, note_seen, step};
use store::{alarms, incidents, servers};

/// After so long without a sample nobody knows whether a level held.
const GAP: i64 = 3 * SAMPLE_SECONDS;
/// Groups are looked at less often.
const GAP_OF_GROUPS: i64 = 12 * SAMPLE_SECONDS;
/// What is remembered of an alarm and a server.
type Key = (InstanceId, AlarmId, String);

/// The watch of one control plane.
pub struct Watch {
    context: Context,
    /// By [`model::Clock::elapsed`].
    started_at: SignedDuration,
    /// When each value was last seen, by the time of the sample.
    seen: HashMap<Key, Timestamp>,
    forecasts: HashMap<ServerId, Forecast>,
    patience: Patience,
    roomy: Roomy,
    excused: ExcusedSilence,
}

/// A sample that lies after that was measured before a clock was set back, and says nothing
/// of now. What the store has of such times is mended there ([`store::set_back`]).
fn latest(context: &Context) -> Timestamp {
    context.now() + SignedDuration::from_secs(AHEAD)
}

impl Watch {
    pub fn new(context: Context) -> Self {
        let started_at = context.elapsed();
        let (seen, forecasts) = (HashMap::new(), HashMap::new());
        let (patience, roomy) = (Patience::default(), Roomy::default());
        let excused = ExcusedSilence::default();
        Self { context, started_at, seen, forecasts, patience, roomy, excused }
    }

    /// Looks at a new sample of a server.
    pub async fn sample(&mut self, server: ServerId, sample: &Sample) -> Result<()> {
        let Ok(at) = Timestamp::from_second(sample.at) else { return Ok(()) };
        if at > latest(&self.context) {
            return Ok(());
        }
        let mut reader = self.context.store().reader();
        let found = servers::find_bare(&mut reader, server).await?;
        // What a server that is to stop does until then concerns nobody.
        let Some(server) = found.filter(|server| !server.wanted.is_stopped()) else {
            return Ok(());
        };
        disk_guard::look(&self.context, &mut self.roomy, &server, sample).await?;
        let mut watched = alarms::list(&mut reader, server.instance_id).await?;
        watched.retain(|alarm| alarm.what.enabled);
        let open = incidents::open(&mut reader, server.instance_id).await?;
        let hours = self.forecast(server.id, &watched, sample).await;
        for alarm in watched {
            let found = match alarm.what.kind {
                AlarmType::DiskForecast => {
                    hours.map(|hours| (hours, level::of_forecast(&alarm.what, hours)))
                }
                _ => level::of_sample(&alarm.what, sample),
            };
            let Some((value, level)) = found else { continue };
            let of_cluster = level::is_of_cluster(alarm.what.kind);
            let about = if of_cluster { "" } else { server.name.as_str() };
            let seen = Seen { about, at, since: None, value: Some(value) };
            self.look(server.instance_id, &alarm, &open, &seen, level).await?;
        }
        Ok(())
    }

    /// In how many hours the disk is full, if that is known and anybody asks.
    async fn forecast(
        &mut self,
        server: ServerId,
        watched: &[Alarm],
        sample: &Sample,
    ) -> Option<f64> {
        let free = f64::from(sample.value(Series::DiskFree)?);
        if !watched.iter().any(|alarm| alarm.what.kind == AlarmType::DiskForecast) {
            // Whoever asks again begins with what the history has of the meantime.
            self.forecasts.remove(&server);
            return None;
        }
        let latest = latest(&self.context).as_second();
        let known = self.forecasts.get(&server);
        if known.and_then(Forecast::last) > Some(latest) {
            self.forecasts.remove(&server);
        }
        if self.forecasts.get(&server).is_none_or(Forecast::lacks_past) {
            let past = Box::pin(Forecast::of_past(&self.context, server, sample.at));
            if let Some(past) = self.patience.ask(self.context.elapsed(), past).await {
                self.forecasts.insert(server, past);
            }
        }
        self.forecasts.entry(server).or_default().take(sample.at, free)
    }

    /// What was not heard of for a day is gone.
    fn forget(&mut self) {
        let day = SignedDuration::from_hours(24);
        let (since, elapsed) = (self.context.now() - day, self.context.elapsed() - day);
        self.roomy.forget(elapsed);
        self.excused.forget(elapsed);
        self.seen.retain(|_, at| *at > since);
        self.forecasts.retain(|_, forecast| forecast.last() > Some(since.as_second()));
    }

    /// `open` is what the instance has open.
    async fn look(
        &mut self,
        instance: InstanceId,
        alarm: &Alarm,
        open: &[Incident],
        seen: &Seen<'_>,
        level: Level,
    ) -> Result<()> {
        let incident = open.iter().find(|it| it.alarm_id == alarm.id && it.about == seen.about);
        self.look_at(instance, alarm, incident, seen, level).await
    }

    /// `incident` is the open one of the alarm and whom it is about. Somebody may move it
    /// meanwhile; a step is made only from what it was.
    async fn look_at(
        &mut self,
        instance: InstanceId,
        alarm: &Alarm,
        incident: Option<&Incident>,
        seen: &Seen<'_>,
        level: Level,
    ) -> Result<()> {
        let key = (instance, alarm.id, seen.about.to_owned());
        let latest = latest(&self.context);
        let known = self.seen.get(&key).copied().filter(|at| *at <= latest);
        let last = known.max(incident.map(Incident::judged_at));
        // Samples that come late tell of the past, which was judged already.
        if last.is_some_and(|last| seen.at < last) {
            return Ok(());
        }
        self.seen.insert(key, seen.at);
        let of_groups = alarm.what.kind == AlarmType::ConsumerLag;
        let longest = if of_groups { GAP_OF_GROUPS } else { GAP };
        let gap = last.is_some_and(|last| seen.at.duration_since(last).as_secs() > longest);
        match judge(&alarm.what, incident, level, seen.at, gap) {
            judge::Move::Stay => match incident {
                Some(it) if it.triggered_at.is_none() => {
                    note_seen(&self.context, it, seen.at).await
                }
                _ => Ok(()),
            },
            next => step(&self.context, instance, alarm, incident, seen, next).await,
        }
    }
}
