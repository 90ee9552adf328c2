//! Servers that do not answer: their agent is silent, or their broker is to it. Those that join
//! or leave a cluster count like all others for as long as they should run.

use super::excused_silence::UNDER_WAY;
use super::step::Seen;
use super::{Level, Watch};
use crate::Result;
use crate::metrics::last_heard;
use model::{
    Action, Alarm, AlarmType, Incident, InstanceId, Membership, SAMPLE_SECONDS, Series, Server,
    SignedDuration, Timestamp,
};
use series::Sample;
use std::collections::HashMap;
use std::sync::Arc;
use store::{ServerRecord, actions, alarms, incidents, instances, servers};

/// Samples are of every ten seconds. Agents take their turns within these, and a
/// scrape takes up to five.
const LATE: i64 = 3 * SAMPLE_SECONDS;
/// After a start agents need a moment to find us.
const GRACE: SignedDuration = SignedDuration::from_secs(3 * SAMPLE_SECONDS);
/// A new server is up sooner, even if its cloud takes its time.
const MADE_WITHIN: SignedDuration = SignedDuration::from_mins(10);

/// A server, the alarm that watches it, and what that has open.
struct Watched<'a> {
    instance: InstanceId,
    alarm: &'a Alarm,
    server: &'a Server,
    open: &'a [Incident],
}

impl Watch {
    /// Looks at every server whose silence an alarm is set for. Samples wait meanwhile, so what
    /// is needed of instances where nothing goes on is read for all of them at once.
    pub async fn silence(&mut self) -> Result<()> {
        self.forget();
        self.end_of_removed().await?;
        let mut reader = self.context.store().reader();
        let kind = AlarmType::ServerUnreachable;
        let settled = instances::settled(&mut reader).await?;
        let open = by_instance(incidents::open_of(&mut reader, kind).await?, |it| it.instance_id);
        let servers = servers::list_watched(&mut reader, kind).await?;
        let servers = by_instance(servers, |it| it.instance_id);
        for (instance, alarm) in alarms::enabled_of(&mut reader, kind).await? {
            let servers = servers.get(&instance).map_or(&[][..], Vec::as_slice);
            let open = open.get(&instance).map_or(&[][..], Vec::as_slice);
            let watched = |server| Watched { instance, alarm: &alarm, server, open };
            let is_meant = |it: &&Server| !it.wanted.is_stopped() && !never_came(it);
            if settled.contains(&instance) {
                for server in servers.iter().filter(is_meant) {
                    self.excused.end(server.id);
                    self.look_for_silence(&watched(server), false).await?;
                }
                continue;
            }
            let Some(instance) = instances::find(&mut reader, instance).await? else { continue };
            // While it is made, servers are not there yet; that is no silence.
            let is_made = instance.progress.observed_generation > 0;
            if instance.deleted_at.is_some() || instance.stopped || !is_made {
                continue;
            }
            // An action is open for as long as servers follow it.
            let (asked, records) = if instance.configured() {
                (Vec::new(), Vec::new())
            } else {
                let asked = actions::open(&mut reader, instance.id).await?;
                (asked, servers::list(&mut reader, instance.id).await?)
            };
            for server in servers.iter().filter(is_meant) {
                let is_excused = self.is_excused(server, &asked, &records);
                self.look_for_silence(&watched(server), is_excused).await?;
            }
        }
        Ok(())
    }

    /// Whether an open action lets the server be silent.
    fn is_excused(&mut self, server: &Server, asked: &[Action], records: &[ServerRecord]) -> bool {
        let (now, elapsed) = (self.context.now(), self.context.elapsed());
        let concerning: Vec<&Action> =
            asked.iter().filter(|it| it.is_about(server.number)).collect();
        let record = records.iter().find(|it| it.server.id == server.id);
        let has_turn = if let Some(record) = record.filter(|_| !concerning.is_empty()) {
            self.excused.excuse(record, elapsed)
        } else {
            self.excused.end(server.id);
            false
        };
        has_turn || concerning.iter().any(|it| is_new(it, server, now))
    }

    async fn look_for_silence(&mut self, watched: &Watched<'_>, is_excused: bool) -> Result<()> {
        let Watched { instance, alarm, server, open } = *watched;
        let (now, elapsed) = (self.context.now(), self.context.elapsed());
        let is_young = elapsed - self.started_at < GRACE;
        let heard = last_heard(&self.context, server.id);
        let level = answers(server, heard.as_ref(), now);
        let counts = |level: &Level| *level == Level::Clear || !(is_young || is_excused);
        let Some(level) = level.filter(counts) else { return Ok(()) };
        let since = heard.as_ref().and_then(|heard| silent_since(heard, now));
        let seen = Seen { about: &server.name, at: now, since, value: None };
        self.look(instance, alarm, open, &seen, level).await
    }
}

fn by_instance<T>(all: Vec<T>, instance: impl Fn(&T) -> InstanceId) -> HashMap<InstanceId, Vec<T>> {
    let mut grouped: HashMap<InstanceId, Vec<T>> = HashMap::new();
    for one in all {
        grouped.entry(instance(&one)).or_default().push(one);
    }
    grouped
}

/// The last sample of a server, and how long ago it came.
type Heard = (Arc<Sample>, SignedDuration);

/// Whether it leaves again before its agent was ever heard: nothing is made for it any more.
fn never_came(server: &Server) -> bool {
    server.is_leaving() && server.last_seen.is_none()
}

/// Whether a server may be silent because the action is new. A joining server is made first.
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
