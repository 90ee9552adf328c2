//! Servers that do not answer: their agent is silent, or their broker is to it.

use super::step::Seen;
use super::{Level, Watch};
use crate::Result;
use crate::metrics::latest;
use model::{AlarmType, SAMPLE_SECONDS, Series, Server, SignedDuration, Timestamp};
use series::Sample;
use store::{alarms, incidents, instances, servers};

/// Samples are of every ten seconds. Agents take their turns within these, and a
/// scrape takes up to five.
const LATE: i64 = 3 * SAMPLE_SECONDS;
/// After a start agents need a moment to find us.
const GRACE: SignedDuration = SignedDuration::from_secs(3 * SAMPLE_SECONDS);

impl Watch {
    /// Looks at every server that somebody wants to be told of.
    pub async fn silence(&mut self) -> Result<()> {
        let now = self.app.now();
        self.forget(now);
        let mut reader = self.app.store().reader();
        for (instance, alarm) in
            alarms::enabled_of(&mut reader, AlarmType::ServerUnreachable).await?
        {
            let Some(instance) = instances::find(&mut reader, instance).await? else { continue };
            // While it is made, servers are not there yet; that is no silence.
            if instance.deleted_at.is_some() || instance.progress.observed_generation == 0 {
                continue;
            }
            let open = incidents::open(&mut reader, instance.id).await?;
            for server in servers::list_bare(&mut reader, instance.id).await? {
                let shall_run = !instance.stopped && !server.stopped;
                let sample = latest(&self.app, server.id);
                let level = if shall_run {
                    answers(&server, sample.as_deref(), now)
                } else {
                    Some(Level::Clear)
                };
                let young = now.duration_since(self.started_at) < GRACE;
                let Some(level) = level.filter(|it| *it == Level::Clear || !young) else {
                    continue;
                };
                let since = sample.as_deref().and_then(|sample| silent_since(sample, now));
                let seen = Seen { about: &server.name, at: now, since, value: None };
                self.look(instance.id, &alarm, &open, &seen, level).await?;
            }
        }
        Ok(())
    }
}

/// From the sample on that says so, or from the one on that did not come. One of
/// long ago says nothing: it may have been stopped since.
fn silent_since(sample: &Sample, now: Timestamp) -> Option<Timestamp> {
    if now.as_second() - sample.at > LATE + SAMPLE_SECONDS {
        return None;
    }
    let told = sample.value(Series::Partitions).is_some();
    let since = if told { sample.at + SAMPLE_SECONDS } else { sample.at };
    Timestamp::from_second(since).ok()
}

/// None if another control plane hears from it, which then looks for itself.
fn answers(server: &Server, sample: Option<&Sample>, now: Timestamp) -> Option<Level> {
    let fresh = sample.filter(|sample| now.as_second() - sample.at <= LATE);
    if let Some(sample) = fresh {
        // A server made before there were metrics is known by its agent alone.
        let broker =
            server.listeners.metrics.is_none() || sample.value(Series::Partitions).is_some();
        return Some(if broker { Level::Clear } else { Level::Beyond });
    }
    let heard = server.last_seen.is_some_and(|at| now.duration_since(at).as_secs() <= LATE);
    if heard { None } else { Some(Level::Beyond) }
}
