//! What to do next on the way to an aim, from the cluster as it is now and from nothing else.
//!
//! The order is fixed: mend stale ELRs, cancel what is copied to leaving brokers, lower min
//! ISR, change replicas in batches, elect preferred leaders a few at a time, raise min ISR. A
//! batch ends before the next begins, so stopping after any of them leaves every partition
//! whole.

use crate::aim::Aim;
use crate::batch::{self, Limits, elections};
use crate::check::{Refusal, refusals, too_few_brokers};
use crate::cluster::{Cluster, Partition, PartitionName};
use crate::plan::{MinIsr, Move, MovePlan, plan};
use crate::safety::{Obstacle, Verdict, may_cancel, may_change_min_isr};
use std::collections::BTreeMap;
use std::sync::Arc;

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Next {
    /// Clear these ELRs: set the topic's min ISR to 1, and then back. Save what it was before.
    MendElr(Vec<StaleElr>),
    /// Cancel these reassignments: they copy to brokers that leave.
    Cancel(Vec<PartitionName>),
    SetMinIsr(Vec<MinIsr>),
    /// Start these reassignments, all at once.
    Reassign(Vec<Move>),
    /// Have the first replica of each elected.
    ElectLeaders(Vec<PartitionName>),
    /// Look again later.
    Wait(Vec<Reason>),
    Done,
}

/// A topic with ELRs that name brokers which are no replicas.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StaleElr {
    pub topic: Arc<str>,
    /// What it is to be again afterwards.
    pub min_isr: usize,
    pub partitions: Vec<i32>,
}

/// Why nothing can be done right now.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Reason {
    #[error(transparent)]
    Obstacle(#[from] Obstacle),
    #[error("broker {node} has no room for {partition} yet, which has {bytes} bytes")]
    NoRoom { partition: PartitionName, node: i32, bytes: u64 },
    /// The cluster has changed since the aim was accepted.
    #[error(transparent)]
    Refused(#[from] Refusal),
}

/// As many reasons as are worth telling.
pub(crate) const MOST_REASONS: usize = 20;

/// What to do next.
pub fn next_batch(cluster: &Cluster, aim: &Aim, limits: &Limits) -> Next {
    next_of_plan(cluster, aim, &plan(cluster, aim), limits)
}

/// The same with a plan that was made from this very cluster, for those who need both.
pub fn next_of_plan(cluster: &Cluster, aim: &Aim, plan: &MovePlan, limits: &Limits) -> Next {
    if let Some(refusal) = too_few_brokers(cluster, aim) {
        return Next::Wait(vec![refusal.into()]);
    }
    let topics = Topics::new(cluster);
    let stale = topics.stale_elrs();
    if !stale.is_empty() {
        return Next::MendElr(stale);
    }
    let unwanted = unwanted(cluster, aim);
    if !unwanted.is_empty() {
        return Next::Cancel(unwanted);
    }
    let busy = reasons_to_wait(cluster, aim);
    if !busy.is_empty() {
        return Next::Wait(busy);
    }
    if aim.ends {
        return Next::Done;
    }
    let lower = topics.changeable(&plan.min_isr_before);
    if !lower.is_empty() {
        return Next::SetMinIsr(lower);
    }
    match batch::choose(cluster, plan, limits) {
        Ok(moves) if moves.is_empty() => {}
        Ok(moves) => return Next::Reassign(moves),
        Err(reasons) => return Next::Wait(reasons),
    }
    let leaders = elections(cluster, limits);
    if !leaders.is_empty() {
        return Next::ElectLeaders(leaders);
    }
    let refused = refusals(cluster, aim, plan);
    if !refused.is_empty() {
        return Next::Wait(refused.into_iter().take(MOST_REASONS).map(Reason::from).collect());
    }
    topics.end(&plan.min_isr_after)
}

/// Reassignments that add brokers which leave, as far as they may be cancelled. Such a broker
/// may be dead, and then they would never end. Where all are to end, neither would those that
/// copy to or from any other broker that is down.
fn unwanted(cluster: &Cluster, aim: &Aim) -> Vec<PartitionName> {
    let leaves = |node: &i32| cluster.broker(*node).is_none_or(|broker| broker.is_leaving);
    let is_down = |node: &i32| aim.ends && !cluster.is_up(*node);
    let is_unwanted = |it: &&Partition| {
        let mut adding = it.reassignment.iter().flat_map(|it| &it.adding);
        let has_source = it.leader.is_some_and(|leader| !is_down(&leader));
        let would_end = !aim.ends || has_source;
        (adding.any(|node| leaves(node) || is_down(node)) || !would_end) && may_cancel(it).is_go()
    };
    cluster.partitions.iter().filter(is_unwanted).map(Partition::name).collect()
}

/// Nothing new begins while a reassignment is under way or a staying broker is unreachable.
/// Where nothing is to begin, only the first counts.
fn reasons_to_wait(cluster: &Cluster, aim: &Aim) -> Vec<Reason> {
    let is_down = |node: &i32| !aim.ends && !cluster.is_up(*node);
    let down = cluster.staying().map(|broker| broker.node).filter(is_down);
    let down = down.map(|node| Obstacle::Unreachable { node });
    let moving = cluster.partitions.iter().filter(|it| it.reassignment.is_some());
    let moving = moving.map(|it| Obstacle::UnderWay { partition: it.name() });
    down.chain(moving).take(MOST_REASONS).map(Reason::from).collect()
}

/// Partitions by topic.
struct Topics<'a>(BTreeMap<&'a Arc<str>, Vec<&'a Partition>>);

impl<'a> Topics<'a> {
    fn new(cluster: &'a Cluster) -> Self {
        let mut topics: BTreeMap<_, Vec<&Partition>> = BTreeMap::new();
        for partition in &cluster.partitions {
            topics.entry(&partition.topic).or_default().push(partition);
        }
        Self(topics)
    }

    fn of(&self, topic: &Arc<str>) -> &[&'a Partition] {
        self.0.get(topic).map_or(&[], Vec::as_slice)
    }

    fn stale_elrs(&self) -> Vec<StaleElr> {
        let stale = |partitions: &[&Partition]| -> Option<StaleElr> {
            let is_stale = |it: &&&Partition| !it.elr_outside(&it.replicas).is_empty();
            let found: Vec<i32> = partitions.iter().filter(is_stale).map(|it| it.index).collect();
            let first = partitions.first().filter(|_| !found.is_empty())?;
            let may = may_change_min_isr(partitions.iter().copied());
            may.is_go().then(|| StaleElr {
                topic: first.topic.clone(),
                min_isr: first.min_isr,
                partitions: found,
            })
        };
        self.0.values().filter_map(|partitions| stale(partitions)).collect()
    }

    /// Those of the topics that may be changed now.
    fn changeable(&self, all: &[MinIsr]) -> Vec<MinIsr> {
        let may = |it: &&MinIsr| may_change_min_isr(self.of(&it.topic).iter().copied()).is_go();
        all.iter().filter(may).cloned().collect()
    }

    /// All replicas are where they should be: min ISR is raised once they are in sync.
    fn end(&self, raise: &[MinIsr]) -> Next {
        let mut reasons = Vec::new();
        for partition in self.0.values().flatten() {
            let stale = partition.elr_outside(&partition.replicas);
            if !stale.is_empty() {
                let partition = partition.name();
                reasons.push(Obstacle::StaleElr { partition, nodes: stale });
            }
        }
        for partition in raise.iter().flat_map(|it| self.of(&it.topic)) {
            let lagging = partition.lagging();
            if !lagging.is_empty() {
                let partition = partition.name();
                reasons.push(Obstacle::Lagging { partition, nodes: lagging });
            }
            if let Verdict::Wait(obstacles) = may_change_min_isr([*partition]) {
                reasons.extend(obstacles);
            }
        }
        reasons.truncate(MOST_REASONS);
        match (reasons.is_empty(), raise.is_empty()) {
            (true, true) => Next::Done,
            (true, false) => Next::SetMinIsr(raise.to_vec()),
            (false, _) => Next::Wait(reasons.into_iter().map(Reason::from).collect()),
        }
    }
}
