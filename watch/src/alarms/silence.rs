//! Servers that do not answer: their agent is silent, or their broker is to it. Those that join
//! or leave a cluster count like all others for as long as they should run.

use super::excused_silence::UNDER_WAY;
use super::step::Seen;
use super::{Level, Watch};
use crate::Result;
use crate::metrics::last_heard;
use model::{
    Action, AlarmType, Membership, SAMPLE_SECONDS, Series, Server, SignedDuration, Timestamp,
};
use series::Sample;
use std::sync::Arc;
use store::{actions, alarms, incidents, instances, servers};

/// Samples are of every ten seconds. Agents take their turns within these, and a
/// scrape takes up to five.
const LATE: i64 = 3 * SAMPLE_SECONDS;
/// After a start agents need a moment to find us.
const GRACE: SignedDuration = SignedDuration::from_secs(3 * SAMPLE_SECONDS);
/// A new server is up sooner, even if its cloud takes its time.
const MADE_WITHIN: SignedDuration = SignedDuration::from_mins(10);

impl Watch {
    /// Looks at every server whose silence an alarm is set for.
    pub async fn silence(&mut self) -> Result<()> {
        self.forget();
        self.end_of_removed().await?;
        let mut reader = self.context.store().reader();
        for (instance, alarm) in
            alarms::enabled_of(&mut reader, AlarmType::ServerUnreachable).await?
        {
            let Some(instance) = instances::find(&mut reader, instance).await? else { continue };
            // While it is made, servers are not there yet; that is no silence.
            if instance.deleted_at.is_some() || instance.progress.observed_generation == 0 {
                continue;
            }
            let open = incidents::open(&mut reader, instance.id).await?;
            // An action is open for as long as servers follow it.
            let (asked, records) = if instance.configured() {
                (Vec::new(), Vec::new())
            } else {
                let asked = actions::open(&mut reader, instance.id).await?;
                (asked, servers::list(&mut reader, instance.id).await?)
            };
            for server in servers::list_bare(&mut reader, instance.id).await? {
                if instance.stopped || server.wanted.is_stopped() || never_came(&server) {
                    continue;
                }
                let (now, elapsed) = (self.context.now(), self.context.elapsed());
                let heard = last_heard(&self.context, server.id);
                let young = elapsed - self.started_at < GRACE;
                let concerning: Vec<&Action> =
                    asked.iter().filter(|it| it.is_about(server.number)).collect();
                let record = records.iter().find(|it| it.server.id == server.id);
                let has_turn = if let Some(record) = record.filter(|_| !concerning.is_empty()) {
                    self.excused.excuse(record, elapsed)
                } else {
                    self.excused.end(server.id);
                    false
                };
                let is_new = concerning.iter().any(|it| is_new(it, &server, now));
                let excused = young || has_turn || is_new;
                let level = answers(&server, heard.as_ref(), now);
                let Some(level) = level.filter(|it| *it == Level::Clear || !excused) else {
                    continue;
                };
                let since = heard.as_ref().and_then(|heard| silent_since(heard, now));
                let seen = Seen { about: &server.name, at: now, since, value: None };
                self.look(instance.id, &alarm, &open, &seen, level).await?;
            }
        }
        Ok(())
    }
}

/// The last sample of a server, and how long ago it came.
type Heard = (Arc<Sample>, SignedDuration);

/// Whether it leaves again before its agent was ever heard: nothing is made for it any more.
fn never_came(server: &Server) -> bool {
    server.is_leaving() && server.last_seen.is_none()
}

/// Whether a server may be silent for what somebody has just asked. One that joins is made
/// first.
fn is_new(action: &Action, server: &Server, now: Timestamp) -> bool {
    let is_made = server.membership == Membership::Joining;
    let under_way = if is_made { MADE_WITHIN } else { UNDER_WAY };
    now.duration_since(action.asked_at) < under_way
}

/// From the sample on that says so, or from the one on that did not come. One of
/// long ago says nothing: it may have been stopped since.
fn silent_since((sample, age): &Heard, now: Timestamp) -> Option<Timestamp> {
    if age.as_secs() > LATE + SAMPLE_SECONDS {
        return None;
    }
    let answered = sample.value(Series::Partitions).is_some();
    let since = now - *age;
    let since = if answered { since + SignedDuration::from_secs(SAMPLE_SECONDS) } else { since };
    Some(since.min(now))
}

/// None if another control plane hears from it, which then looks for itself.
fn answers(server: &Server, heard: Option<&Heard>, now: Timestamp) -> Option<Level> {
    let fresh = heard.filter(|(_, age)| age.as_secs() <= LATE);
    if let Some((sample, _)) = fresh {
        // A server made before there were metrics is known by its agent alone.
        let broker =
            server.listeners.metrics.is_none() || sample.value(Series::Partitions).is_some();
        return Some(if broker { Level::Clear } else { Level::Beyond });
    }
    let heard = server.last_seen.is_some_and(|at| now.duration_since(at).as_secs() <= LATE);
    if heard { None } else { Some(Level::Beyond) }
}
