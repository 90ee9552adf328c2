//! Whether a cluster can do without some of its servers, judged from what its
//! brokers say at one moment. Pure.
//!
//! Every broker's own view counts, and the worst of them decides: a view may be
//! a moment old, and a replica is in sync only if nobody knows otherwise. A
//! broker that does not answer holds nothing in sync, whatever others say of it.

mod leaders;
mod verdict;

pub use leaders::Homecoming;
pub use verdict::{Leaving, Member, Standing, Verdict, may_stop};

use crate::client::{PartitionView, Quorum, Replica, TopicReplication};
use model::condition::{Objection, Place};
use model::{Server, SignedDuration};
use std::collections::{BTreeMap, BTreeSet};

/// A voter that had everything so long ago, or less, has caught up.
const CAUGHT_UP: SignedDuration = SignedDuration::from_secs(3);

/// What the brokers of a cluster said, all asked at the same moment.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Look {
    pub quorum: Quorum,
    /// By node, of every broker that answered.
    pub views: BTreeMap<i32, Vec<TopicReplication>>,
    /// Nodes that were asked and did not answer.
    pub no_reply: BTreeSet<i32>,
}

/// For how long servers are missed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Need {
    /// They come back. A partition that demands every one of its replicas can't
    /// be kept writable whatever is done, so all its others are enough; so it is
    /// with a quorum of one.
    ComeBack,
    /// They stay down: nothing may be missed.
    StayDown,
}

impl Need {
    /// Of a server that is to stop as its row says.
    pub fn for_stop(server: &Server) -> Self {
        if server.wanted.is_stopped() { Need::StayDown } else { Need::ComeBack }
    }
}

/// A copy that runs but has not caught up.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Lagging {
    /// `<topic>-<number>`.
    pub partition: String,
    pub node: i32,
    pub in_sync: usize,
    pub replicas: usize,
}

impl Lagging {
    /// As an objection to another server's stop.
    pub fn objection(self, place: Place) -> Objection {
        let Self { partition, in_sync, replicas, .. } = self;
        Objection::ReplicaLagging { partition, in_sync, replicas, place }
    }
}

impl Look {
    /// Why the others can't do without these servers, all at once.
    pub fn missed(&self, nodes: &[i32], need: Need) -> Vec<Objection> {
        if self.views.is_empty() {
            return vec![Objection::NoReplicationKnown];
        }
        let mut objections: Vec<Objection> =
            self.quorum_objection(nodes, need).into_iter().collect();
        // Nobody is restarted while a copy of theirs lags: it would lag the longer.
        // Whoever stays away is not missed for a copy that is not in sync.
        let partitions = self.partitions();
        let lagging = if need == Need::ComeBack { self.lagging_of(&partitions) } else { vec![] };
        let behind = lagging.into_iter().filter(|lag| nodes.contains(&lag.node));
        objections
            .extend(behind.map(|lag| Objection::OwnReplicaLagging { partition: lag.partition }));
        objections.extend(partitions.iter().filter_map(|(name, partition)| {
            let left = partition.in_sync.iter().filter(|id| !nodes.contains(id)).count();
            let held = partition.replicas.iter().filter(|id| nodes.contains(id)).count();
            let needed = match need {
                Need::ComeBack => partition.needed.min(partition.replicas.len().saturating_sub(1)),
                Need::StayDown => partition.needed,
            };
            let short = || Objection::TooFewInSync { partition: name.clone(), left, needed };
            (held > 0 && left < needed).then(short)
        }));
        objections
    }

    fn quorum_objection(&self, nodes: &[i32], need: Need) -> Option<Objection> {
        if self.quorum.leader.is_none() {
            return Some(Objection::NoActiveController);
        }
        let voters = &self.quorum.voters;
        let left = voters.iter().filter(|voter| !nodes.contains(&voter.id));
        let left = left.filter(|voter| self.has_all(voter)).count();
        let (all, majority) = (voters.len(), voters.len() / 2 + 1);
        let held = voters.iter().filter(|voter| nodes.contains(&voter.id)).count();
        let needed = match need {
            Need::ComeBack => majority.min(all.saturating_sub(1)),
            Need::StayDown => majority,
        };
        (held > 0 && left < needed).then_some(Objection::QuorumLost { left, all, needed })
    }

    /// Whether a controller has all metadata, as the active one sees it.
    fn has_all(&self, voter: &Replica) -> bool {
        let Some(leader) = self.quorum.leader else { return false };
        let now = self.quorum.voters.iter().find(|it| it.id == leader);
        let now = now.and_then(|leader| leader.last_caught_up);
        let behind = now.zip(voter.last_caught_up).map(|(now, at)| now.duration_since(at));
        // One that has just died had everything a moment ago.
        let answers = !self.no_reply.contains(&voter.id);
        answers && (voter.id == leader || behind.is_some_and(|behind| behind <= CAUGHT_UP))
    }

    /// Whether the node is a controller that lacks metadata.
    pub fn is_controller_lagging(&self, node: i32) -> bool {
        let voter = self.quorum.voters.iter().find(|voter| voter.id == node);
        voter.is_some_and(|voter| !self.has_all(voter))
    }

    /// The active controller, if there is one.
    pub fn active_controller(&self) -> Option<i32> {
        self.quorum.leader
    }

    /// Copies that are not in sync though their broker answers.
    pub fn lagging(&self) -> Vec<Lagging> {
        self.lagging_of(&self.partitions())
    }

    fn lagging_of(&self, partitions: &BTreeMap<String, Judged>) -> Vec<Lagging> {
        let mut lagging = Vec::new();
        for (name, partition) in partitions {
            for node in &partition.replicas {
                if self.views.contains_key(node) && !partition.in_sync.contains(node) {
                    lagging.push(Lagging {
                        partition: name.clone(),
                        node: *node,
                        in_sync: partition.in_sync.len(),
                        replicas: partition.replicas.len(),
                    });
                }
            }
        }
        lagging
    }

    /// Partitions that take no write while one of these servers is away, whatever
    /// is done: they demand all replicas that they have.
    pub fn unavoidable(&self, nodes: &[i32]) -> Vec<String> {
        let mut names = self.partitions();
        names.retain(|_, partition| {
            partition.needed == partition.replicas.len()
                && partition.replicas.iter().any(|id| nodes.contains(id))
        });
        names.into_keys().collect()
    }

    /// Every partition as the worst of the views has it.
    fn partitions(&self) -> BTreeMap<String, Judged> {
        let mut judged: BTreeMap<String, Judged> = BTreeMap::new();
        for topic in self.views.values().flatten() {
            for partition in &topic.partitions {
                let seen = self.judge(topic, partition);
                let name = format!("{}-{}", topic.name, partition.index);
                let worst = judged.entry(name).or_insert_with(|| seen.clone());
                worst.in_sync.retain(|id| seen.in_sync.contains(id));
                worst.needed = worst.needed.max(seen.needed);
            }
        }
        judged
    }

    fn judge(&self, topic: &TopicReplication, partition: &PartitionView) -> Judged {
        let answers = |id: &&i32| self.views.contains_key(id);
        Judged {
            replicas: partition.replicas.clone(),
            in_sync: partition.in_sync.iter().filter(answers).copied().collect(),
            needed: topic.needed(partition),
        }
    }
}

#[derive(Clone)]
struct Judged {
    replicas: Vec<i32>,
    in_sync: BTreeSet<i32>,
    needed: usize,
}

#[cfg(test)]
#[path = "safety_tests.rs"]
mod tests;
