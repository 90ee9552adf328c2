//! What servers sampled, window by window, for a reader that must miss nothing.
//!
//! Unlike [`super::windows`] it tells that the history could not be read, so that the
//! reader comes again. The minutes that are over are read from memory alone where this
//! process has heard everything; that costs no look at the disk.

use super::hub::{ABSENT, Held};
use crate::Context;
use model::{InstanceId, Series, ServerId, SignedDuration};
use series::{Measure, Of, STEP, Tier, Window, align, unpack};
use std::collections::{BTreeMap, HashSet};

const SPAN: i64 = Tier::Sampled.span();

/// The windows of several servers that begin at one time.
#[derive(Clone, PartialEq, Debug)]
pub struct Sampled {
    /// Unix seconds.
    pub start: i64,
    /// Of those servers that have any points then.
    pub windows: BTreeMap<ServerId, Window>,
}

impl Sampled {
    /// The times for which a server's agent has sent anything.
    pub fn times(&self, server: ServerId) -> HashSet<i64> {
        self.windows.get(&server).into_iter().flat_map(times).collect()
    }
}

/// How this process has heard of a server.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Heard {
    /// How long its agent has been sending without being silent for a minute. One that
    /// comes back sends what it kept, the newest sample first.
    pub lasting: SignedDuration,
    /// The time of its last sample.
    pub latest: i64,
}

/// None if its agent was silent for a minute, or talks to another control plane.
pub fn heard(context: &Context, server: ServerId) -> Option<Heard> {
    let now = context.elapsed();
    let servers = context.metrics().servers();
    let held = servers.get(&server).filter(|held| is_heard(held, now))?;
    let latest = held.latest.server.as_ref()?.at;
    Some(Heard { lasting: now - held.heard_since, latest })
}

/// Those with a server whose agent was heard here within the last minute.
pub fn heard_instances(context: &Context) -> HashSet<InstanceId> {
    let now = context.elapsed();
    let servers = context.metrics().servers();
    servers.values().filter(|held| is_heard(held, now)).filter_map(|held| held.instance).collect()
}

fn is_heard(held: &Held, now: SignedDuration) -> bool {
    held.heard_at.is_some_and(|at| now - at <= ABSENT)
}

/// The first windows from a time up to and without another in which any of these servers has
/// a point. What they have outside that time may be there or not.
pub async fn first_sampled(
    context: &Context,
    servers: &[ServerId],
    from: i64,
    to: i64,
) -> store::Result<Option<Sampled>> {
    let mut from = from;
    while from < to {
        // Before the disk is read: what is written meanwhile is in one of them then, or in
        // both.
        let open = first_open(context, servers, from, to);
        let found = if is_whole(open.as_ref(), servers, from, to) {
            open
        } else {
            join(first_kept(context, servers, from, to).await?, open)
        };
        let Some(found) = found else { return Ok(None) };
        let asked = from..to;
        if found.windows.values().flat_map(times).any(|at| asked.contains(&at)) {
            return Ok(Some(found));
        }
        // It has points from before that time alone.
        from = found.start + SPAN;
    }
    Ok(None)
}

/// What is in memory.
fn first_open(context: &Context, servers: &[ServerId], from: i64, to: i64) -> Option<Sampled> {
    let held = context.metrics().servers();
    let open = servers.iter().filter_map(|id| Some((*id, held.get(id)?)));
    let open = open.flat_map(|(id, held)| held.open.iter().map(move |open| (id, &open.window)));
    let asked: Vec<_> =
        open.filter(|(_, window)| window.start < to && window.end() > from).collect();
    let start = asked.iter().map(|(_, window)| window.start).min()?;
    let first = asked.into_iter().filter(|(_, window)| window.start == start);
    let windows = first.map(|(id, window)| (id, window.between(from, to))).collect();
    Some(Sampled { start, windows })
}

/// Whether every server has every sample of the first window that is asked for, so that the
/// disk could add nothing.
fn is_whole(open: Option<&Sampled>, servers: &[ServerId], from: i64, to: i64) -> bool {
    let Some(open) = open.filter(|open| open.start == align(from, SPAN)) else { return false };
    let asked = || (from..to.min(open.start + SPAN)).filter(|at| at % STEP == 0);
    servers.iter().all(|server| {
        open.windows.get(server).is_some_and(|window| {
            let there: HashSet<i64> = times(window).collect();
            asked().all(|at| there.contains(&at))
        })
    })
}

/// The times for which an agent has sent anything; twice, if it sent several series. What
/// the control plane asked the cluster's groups says nothing of the server.
fn times(window: &Window) -> impl Iterator<Item = i64> {
    let of_agent = window.columns.keys().filter(|(measure, _)| is_of_agent(measure));
    of_agent.flat_map(move |(measure, _)| window.points(measure, Of::Average).map(|(at, _)| at))
}

fn is_of_agent(measure: &Measure) -> bool {
    !matches!(measure, Measure::Group(..) | Measure::Server(Series::GroupsLeftOut))
}

/// What is on disk. A row that can't be read is left out.
async fn first_kept(
    context: &Context,
    servers: &[ServerId],
    from: i64,
    to: i64,
) -> store::Result<Option<Sampled>> {
    let Some(history) = &context.metrics().history else { return Ok(None) };
    let rows = history.first(servers, STEP, align(from, SPAN), to - 1).await?;
    let Some(start) = rows.first().map(|row| row.begins) else { return Ok(None) };
    let window = |row: &store::MetricWindow| Some((row.server_id, unpack(&row.body).ok()?));
    Ok(Some(Sampled { start, windows: rows.iter().filter_map(window).collect() }))
}

/// The earlier of two, or both as one if they begin at the same time.
fn join(kept: Option<Sampled>, open: Option<Sampled>) -> Option<Sampled> {
    let (mut kept, open) = match (kept, open) {
        (Some(kept), Some(open)) => (kept, open),
        (one, other) => return one.or(other),
    };
    if kept.start != open.start {
        return Some(if kept.start < open.start { kept } else { open });
    }
    for (server, window) in open.windows {
        match kept.windows.get_mut(&server) {
            Some(known) => known.merge(&window),
            None => _ = kept.windows.insert(server, window),
        }
    }
    Some(kept)
}
