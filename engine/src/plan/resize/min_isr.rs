//! When min ISR changes: of the cluster, and of topics that have their own back.
//!
//! It is lowered before replicas go, because Kafka puts replicas that are dropped into the ELR
//! while min ISR is more than what remains. It rises last, and only where as many replicas are
//! in sync as it then asks for: producers would be refused otherwise.

use super::Change;
use super::moves::{blocked, obstacle};
use crate::plan::{Plan, Step, sizing};
use kafka::placement::{PlacedPartition, PlacedTopic};
use model::condition::MoveObstacle;
use mover::{Partition, Verdict};
use std::collections::BTreeMap;

/// Brokers that join are started with the min ISR of a larger cluster, and would ask for more
/// replicas than topics have by then. What is set for all brokers holds instead of that.
pub(super) fn hold(change: &Change) -> Option<Plan> {
    let (now, wanted) = (present(change), wanted(change));
    let is_unset = change.resize.memory.min_isr.is_none();
    (is_unset && now < wanted).then(|| set(change, now))
}

pub(super) fn lower(change: &Change) -> Option<Plan> {
    let wanted = wanted(change);
    possible(change).any(|now| wanted < now).then(|| set(change, wanted))
}

pub(super) fn raise(change: &Change) -> Option<Plan> {
    let wanted = wanted(change);
    let follows = |topic: &PlacedTopic| (!topic.has_own_min_in_sync).then_some(wanted);
    possible(change)
        .any(|now| wanted > now)
        .then(|| once_in_sync(change, follows, set(change, wanted)))
}

/// A worker died while the min ISR of a topic was another for a moment. Where that has to wait,
/// what follows may be what brings its replicas in sync.
pub(super) fn put_back_mended(change: &Change) -> Option<Plan> {
    put_back(change, &change.resize.memory.mended, Step::EndMending).filter(Plan::has_step)
}

/// Of topics that were lowered while they got more replicas, or in a change that is undone, and
/// of those that could not have it back before.
pub(super) fn put_back_all(change: &Change) -> Option<Plan> {
    let mended = put_back(change, &change.resize.memory.mended, Step::EndMending);
    let lowered = sizing::lowered_to_put_back(change.resize);
    mended.or_else(|| put_back(change, &lowered, Step::PutBackMinIsr))
}

/// By topic. None: it has none of its own, and follows the cluster's.
type Own = BTreeMap<String, Option<u32>>;

fn put_back(change: &Change, topics: &Own, step: Step) -> Option<Plan> {
    if topics.is_empty() {
        return None;
    }
    let partitions = change.placed.cluster.partitions.iter();
    let theirs = partitions.filter(|partition| topics.contains_key(&*partition.topic));
    let plan = unless_leaderless(change, theirs, step);
    Some(once_in_sync(change, |topic| own(change, topics, topic), plan))
}

fn own(change: &Change, topics: &Own, topic: &PlacedTopic) -> Option<u32> {
    let own = topics.get(&topic.name)?;
    Some(own.unwrap_or_else(|| present(change)))
}

/// The cluster's, as it was last set.
fn present(change: &Change) -> u32 {
    sizing::present_min_isr(&change.world.instance, Some(change.resize))
}

/// The values it may have: as it was last set, and as a control plane that died since had asked
/// Kafka to set it.
fn possible(change: &Change) -> impl Iterator<Item = u32> {
    [Some(present(change)), change.resize.memory.min_isr_asked].into_iter().flatten()
}

/// What it is to be.
fn wanted(change: &Change) -> u32 {
    sizing::min_isr(&change.world.instance, change.resize.aim())
}

/// Where Kafka may have been asked before, it may be so already, which the step looks at.
fn set(change: &Change, to: u32) -> Plan {
    if change.resize.memory.min_isr_asked.is_some() {
        return change.act(Step::SetMinIsr(to));
    }
    unless_leaderless(change, change.placed.cluster.partitions.iter(), Step::SetMinIsr(to))
}

/// Told of a min ISR, Kafka forgets who else may lead the partitions it is about.
fn unless_leaderless<'a>(
    change: &Change,
    partitions: impl Iterator<Item = &'a Partition>,
    step: Step,
) -> Plan {
    match mover::may_change_min_isr(partitions) {
        Verdict::Go => change.act(step),
        Verdict::Wait(obstacles) => {
            blocked(obstacles.into_iter().map(|it| obstacle(change, it)).collect())
        }
    }
}

/// The plan, or what it has to wait for.
fn once_in_sync(change: &Change, next: impl Fn(&PlacedTopic) -> Option<u32>, plan: Plan) -> Plan {
    let lagging = lagging(change, next);
    if lagging.is_empty() { plan } else { blocked(lagging) }
}

/// Partitions with fewer replicas in sync than the next min ISR of their topic asks for; none:
/// it stays as it is.
fn lagging(change: &Change, next: impl Fn(&PlacedTopic) -> Option<u32>) -> Vec<MoveObstacle> {
    let of_topic = |topic: &PlacedTopic| -> Vec<MoveObstacle> {
        let rises = next(topic).map(|next| next as usize).filter(|next| *next > topic.min_in_sync);
        let Some(next) = rises else { return vec![] };
        let is_short = |it: &&PlacedPartition| it.in_sync.len() < next.min(it.replicas.len());
        let short = topic.partitions.iter().filter(is_short);
        short.map(|it| lags(change, &topic.name, it)).collect()
    };
    change.placed.view.topics.iter().flat_map(of_topic).collect()
}

fn lags(change: &Change, topic: &str, partition: &PlacedPartition) -> MoveObstacle {
    let out = partition.replicas.iter().filter(|node| !partition.in_sync.contains(node));
    MoveObstacle::Lagging {
        partition: format!("{topic}-{}", partition.index),
        places: out.map(|node| change.place(*node)).collect(),
    }
}
