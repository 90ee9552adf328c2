//! The next few moves of a plan, and the next few elections: what may begin now, as much as the
//! limits allow. Many elections at once keep clients waiting for seconds.

use crate::cluster::{Broker, Cluster, Partition, PartitionName};
use crate::next::{MOST_REASONS, Reason};
use crate::plan::{Hop, Move, MoveKind, MovePlan};
use crate::safety::{Verdict, may_reassign};
use std::collections::{HashMap, HashSet};
use std::time::Duration;

/// The part of a disk that is left free while copies are made, one in so many: less than what
/// a plan leaves free, since a broker may get a copy before it is rid of another.
const SPARE_PART: u64 = 10;

/// Leaders that change at once.
const LEADERS_AT_ONCE: usize = 4;

/// How much is begun at once.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Limits {
    pub partitions: usize,
    /// A partition that is larger is moved alone.
    pub bytes: u64,
    /// Partitions that change their leader. Clients notice each.
    pub leaders: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { partitions: 50, bytes: 10_000_000_000, leaders: LEADERS_AT_ONCE }
    }
}

impl Limits {
    /// What is copied in about this time under this throttle.
    #[must_use]
    pub fn lasting(self, time: Duration, bytes_per_second: u64) -> Self {
        Self { bytes: bytes_per_second.saturating_mul(time.as_secs()).max(1), ..self }
    }
}

/// Empty if the plan is. If all of it has to wait: why.
///
/// What has to move comes first, in any order. Then brokers are evened out, hop by hop in the
/// order of the plan, and at last replicas are put into another order. Where nothing that has to
/// move finds room, brokers are evened out before: the plan makes that room.
pub fn choose(
    cluster: &Cluster,
    plan: &MovePlan,
    limits: &Limits,
) -> Result<Vec<Move>, Vec<Reason>> {
    let mut batch = Batch::new(cluster, limits);
    let first = plan.moves.first().map(|it| it.kind);
    match first {
        None => {}
        Some(MoveKind::Spread) => batch.take_hops(plan),
        Some(MoveKind::Reorder) => batch.take_any(&plan.moves),
        Some(_) => {
            let end = plan.moves.partition_point(|it| it.kind < MoveKind::Spread);
            batch.take_any(&plan.moves[..end]);
            if batch.lacks_room() {
                batch.take_hops(plan);
            }
        }
    }
    if batch.moves.is_empty() && !batch.reasons.is_empty() {
        return Err(batch.reasons);
    }
    Ok(batch.moves)
}

/// What a batch amounts to.
#[derive(Clone, Copy, Default)]
struct Size {
    partitions: usize,
    bytes: u64,
    leaders: usize,
}

impl Size {
    fn with(self, one: &Move, partition: &Partition) -> Self {
        let moves_leader = partition.leader.is_some_and(|leader| !one.to.contains(&leader));
        Self {
            // Hops may lead back to where they began.
            partitions: self.partitions + usize::from(one.to != one.from),
            bytes: self.bytes.saturating_add(one.bytes),
            leaders: self.leaders + usize::from(moves_leader),
        }
    }

    fn is_within(self, limits: &Limits) -> bool {
        let is_small = self.bytes <= limits.bytes && self.leaders <= limits.leaders.max(1);
        self.partitions <= 1 || self.partitions <= limits.partitions && is_small
    }
}

/// What became of a move that was offered to a batch.
#[derive(PartialEq, Eq)]
enum Offer {
    Taken,
    /// It does not fit any more.
    Full,
    /// It may not begin now.
    Refused,
}

struct Batch<'a> {
    cluster: &'a Cluster,
    limits: &'a Limits,
    partitions: HashMap<PartitionName, &'a Partition>,
    moves: Vec<Move>,
    reasons: Vec<Reason>,
}

impl<'a> Batch<'a> {
    fn new(cluster: &'a Cluster, limits: &'a Limits) -> Self {
        let partitions = cluster.partitions.iter().map(|it| (it.name(), it)).collect();
        Self { cluster, limits, partitions, moves: vec![], reasons: vec![] }
    }

    fn lacks_room(&self) -> bool {
        let is_room = |reason: &Reason| matches!(reason, Reason::NoRoom { .. });
        self.moves.is_empty() && !self.reasons.is_empty() && self.reasons.iter().all(is_room)
    }

    /// As many as fit, whichever.
    fn take_any(&mut self, moves: &[Move]) {
        for next in moves {
            if self.moves.len() >= self.limits.partitions.max(1) {
                return;
            }
            self.offer(next.clone());
        }
    }

    /// The first hops of the plan, up to one that does not fit. Partitions that have to wait are
    /// left out.
    fn take_hops(&mut self, plan: &MovePlan) {
        let targets: HashMap<&PartitionName, &Move> =
            plan.moves.iter().map(|it| (&it.partition, it)).collect();
        let mut refused: HashSet<&PartitionName> = HashSet::new();
        for hop in &plan.hops {
            if refused.contains(&hop.partition) {
                continue;
            }
            let Some(next) = self.after(hop, &targets) else { continue };
            match self.offer(next) {
                Offer::Taken => {}
                Offer::Full => break,
                Offer::Refused => {
                    refused.insert(&hop.partition);
                }
            }
        }
        self.moves.retain(|it| it.to != it.from);
    }

    /// What the batch does with a partition once this hop is part of it.
    fn after(&self, hop: &Hop, targets: &HashMap<&PartitionName, &Move>) -> Option<Move> {
        let partition = self.partitions.get(&hop.partition)?;
        let from = partition.settled();
        let so_far = self.moves.iter().find(|it| it.partition == hop.partition);
        let mut to = so_far.map_or_else(|| from.clone(), |it| it.to.clone());
        *to.iter_mut().find(|node| **node == hop.from)? = hop.to;
        // Where this is its last hop, it gets its order too.
        let target = targets.get(&hop.partition).map(|it| &it.to);
        if let Some(target) = target.filter(|it| to.iter().all(|node| it.contains(node))) {
            to.clone_from(target);
        }
        let copies = to.iter().filter(|node| !from.contains(node)).count() as u64;
        let bytes = partition.bytes.saturating_mul(copies);
        Some(Move { partition: hop.partition.clone(), kind: MoveKind::Spread, from, to, bytes })
    }

    /// Takes a move, instead of the one that it has for that partition.
    fn offer(&mut self, next: Move) -> Offer {
        let Some(partition) = self.partitions.get(&next.partition).copied() else {
            return Offer::Refused;
        };
        let others = || self.moves.iter().filter(|it| it.partition != next.partition);
        let mut size = Size::default().with(&next, partition);
        for other in others() {
            size = size.with(other, self.partitions[&other.partition]);
        }
        if !size.is_within(self.limits) {
            return Offer::Full;
        }
        let reasons = self.reasons_against(&next, partition, others());
        self.moves.retain(|it| it.partition != next.partition);
        if reasons.is_empty() {
            self.moves.push(next);
            return Offer::Taken;
        }
        let free = MOST_REASONS.saturating_sub(self.reasons.len());
        self.reasons.extend(reasons.into_iter().take(free));
        Offer::Refused
    }

    fn reasons_against<'b>(
        &self,
        next: &Move,
        partition: &Partition,
        others: impl Iterator<Item = &'b Move>,
    ) -> Vec<Reason> {
        let is_up = |node| self.cluster.is_up(node);
        if let Verdict::Wait(obstacles) = may_reassign(partition, &next.to, is_up) {
            return obstacles.into_iter().map(Reason::from).collect();
        }
        let mut coming: HashMap<i32, u64> = HashMap::new();
        for other in others {
            for node in other.added() {
                *coming.entry(node).or_default() += self.partitions[&other.partition].bytes;
            }
        }
        let bytes = partition.bytes;
        let is_tight = |node: &i32| {
            let room = self.cluster.broker(*node).map_or(0, room);
            bytes > 0 && room < coming.get(node).copied().unwrap_or(0).saturating_add(bytes)
        };
        let tight = next.added().filter(is_tight);
        tight.map(|node| Reason::NoRoom { partition: partition.name(), node, bytes }).collect()
    }
}

/// Bytes that a broker can take.
fn room(broker: &Broker) -> u64 {
    broker.free_bytes.saturating_sub(broker.disk_bytes / SPARE_PART)
}

/// The next few partitions, by name, that are not led by their first replica though that could
/// lead them. A partition whose first replica lags keeps the leader it has.
pub fn elections(cluster: &Cluster, limits: &Limits) -> Vec<PartitionName> {
    let due = cluster.partitions.iter().filter(|it| is_election_due(cluster, it));
    let mut due: Vec<PartitionName> = due.map(Partition::name).collect();
    due.sort();
    due.truncate(limits.leaders.max(1));
    due
}

fn is_election_due(cluster: &Cluster, partition: &Partition) -> bool {
    let (Some(first), Some(leader)) = (partition.replicas.first(), partition.leader) else {
        return false;
    };
    let can_lead = partition.in_sync.contains(first) && cluster.is_up(*first);
    partition.reassignment.is_none() && leader != *first && can_lead
}
