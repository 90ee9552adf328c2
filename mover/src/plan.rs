//! Where every partition is to be: few bytes are copied, bytes and leaders are even, racks are
//! apart, and the order of replicas stays where it can.
//!
//! A plan begins with what the cluster is, and has no memory. Planning again in the middle
//! gives the rest of the way, and planning again at its end gives nothing. The same cluster
//! has the same plan.

mod band;
mod bound;
mod leaders;
mod min_isr;
mod numbers;
mod racks;
mod shares;
mod spread;

pub use min_isr::MinIsr;
pub use numbers::{NotRaised, Unplaced};

use crate::aim::{Aim, is_internal};
use crate::cluster::{Cluster, Partition, PartitionName};
use crate::layout::Layout;
use std::cmp::Reverse;

/// Rounds of evening out. Each ends sooner where nothing is left to gain.
const MOST_ROUNDS: usize = 30;

/// What is to change.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub struct MovePlan {
    /// Of partitions that are not as they should be. All others stay as they are.
    pub moves: Vec<Move>,
    /// The way that evening out takes, replica by replica. Each hop makes brokers more even if
    /// those before it are done, so that planning again in the middle does not undo it.
    pub hops: Vec<Hop>,
    /// Bytes that the moves copy.
    pub bytes: u64,
    /// Bytes that reassignments under way have still to copy.
    pub bytes_under_way: u64,
    /// No plan that evens out as much copies fewer bytes than this.
    pub lower_bound: u64,
    /// Topics that keep their replicas because the disks have no room for more.
    pub not_raised: Vec<NotRaised>,
    /// Replicas on leaving brokers for which no other broker has room.
    pub unplaced: Vec<Unplaced>,
    /// Lowered before any replica is dropped.
    pub min_isr_before: Vec<MinIsr>,
    /// Raised after all replicas are in sync.
    pub min_isr_after: Vec<MinIsr>,
}

impl MovePlan {
    /// Nothing is left to be copied, dropped or put in another order.
    pub fn is_empty(&self) -> bool {
        self.moves.is_empty()
    }

    /// Bytes to copy until everything is in its place.
    pub fn bytes_left(&self) -> u64 {
        self.bytes.saturating_add(self.bytes_under_way)
    }
}

/// New replicas of one partition.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Move {
    pub partition: PartitionName,
    pub kind: MoveKind,
    pub from: Vec<i32>,
    pub to: Vec<i32>,
    /// What is copied, on all brokers together.
    pub bytes: u64,
}

impl Move {
    /// Brokers that get a copy.
    pub fn added(&self) -> impl Iterator<Item = i32> {
        self.to.iter().filter(|node| !self.from.contains(node)).copied()
    }
}

/// A replica that goes from one broker to another.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Hop {
    pub partition: PartitionName,
    pub from: i32,
    pub to: i32,
}

/// Why replicas change. Moves are done in this order.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum MoveKind {
    /// Replicas are dropped, which makes room.
    Lower,
    Raise,
    /// A broker leaves.
    Drain,
    /// Brokers become more even, or racks are kept apart.
    Spread,
    /// Another replica is the first, and nothing is copied.
    Reorder,
}

/// Where every partition is to be.
pub fn plan(cluster: &Cluster, aim: &Aim) -> MovePlan {
    let mut layout = Layout::new(cluster);
    let wanted: Vec<usize> = (layout.partitions.iter().zip(&layout.before))
        .map(|(partition, before)| aim.replicas(partition, before.len(), layout.staying))
        .collect();
    numbers::drop_surplus(&mut layout, &wanted);
    let retained = bound::Retained::new(&layout);
    let mut shortage = settle(&mut layout, &wanted, false);
    layout.relocated.clear();
    if aim.spread && layout.staying > 1 {
        for _ in 0..MOST_ROUNDS {
            shortage = settle(&mut layout, &wanted, true);
            if !spread::even_counts(&mut layout) {
                break;
            }
        }
        leaders::even_out(&mut layout);
    }
    let (not_raised, unplaced) = shortage;
    let moves = moves(&layout);
    MovePlan {
        bytes: moves.iter().map(|it| it.bytes).sum(),
        bytes_under_way: cluster.partitions.iter().map(Partition::bytes_under_way).sum(),
        lower_bound: retained.lower_bound(&layout, aim.spread),
        min_isr_before: min_isr::to_lower(&layout),
        min_isr_after: min_isr::to_raise(&layout),
        moves,
        hops: hops(&layout),
        not_raised,
        unplaced,
    }
}

/// Everything has as many replicas as wanted, in different racks, and bytes are even.
fn settle(
    layout: &mut Layout<'_>,
    wanted: &[usize],
    spread: bool,
) -> (Vec<NotRaised>, Vec<Unplaced>) {
    for _ in 0..MOST_ROUNDS {
        let unplaced = numbers::drain(layout);
        let not_raised = numbers::raise(layout, wanted);
        let is_changed = spread && (racks::part(layout) | spread::even_bytes(layout));
        // What was moved away may have made room.
        if !is_changed {
            return (not_raised, unplaced);
        }
    }
    (numbers::raise(layout, wanted), numbers::drain(layout))
}

fn hops(layout: &Layout<'_>) -> Vec<Hop> {
    let hop = |(at, from, to): &(usize, usize, usize)| Hop {
        partition: layout.partitions[*at].name(),
        from: layout.nodes[*from],
        to: layout.nodes[*to],
    };
    layout.relocated.iter().map(hop).collect()
}

fn moves(layout: &Layout<'_>) -> Vec<Move> {
    let all = 0..layout.partitions.len();
    let changed = all.filter(|at| layout.replicas[*at] != layout.before[*at]);
    let mut moves: Vec<Move> = changed.map(|at| one_move(layout, at)).collect();
    // The fewest copies first, since they are in the greatest danger, and Kafka's own.
    moves.sort_by_cached_key(|it| {
        let is_other = !is_internal(&it.partition.topic);
        (it.kind, it.from.len(), is_other, Reverse(it.bytes), it.partition.clone())
    });
    moves
}

fn one_move(layout: &Layout<'_>, at: usize) -> Move {
    let (before, after) = (&layout.before[at], &layout.replicas[at]);
    let nodes = |brokers: &[usize]| brokers.iter().map(|it| layout.nodes[*it]).collect();
    let copies = after.iter().filter(|it| !before.contains(it)).count();
    Move {
        partition: layout.partitions[at].name(),
        kind: kind(layout, at),
        from: nodes(before),
        to: nodes(after),
        bytes: layout.bytes(at).saturating_mul(copies as u64),
    }
}

fn kind(layout: &Layout<'_>, at: usize) -> MoveKind {
    let (before, after) = (&layout.before[at], &layout.replicas[at]);
    let is_dropped = |broker: &&usize| !after.contains(broker);
    if after.len() < before.len() {
        MoveKind::Lower
    } else if after.len() > before.len() {
        MoveKind::Raise
    } else if before.iter().filter(is_dropped).any(|broker| *broker >= layout.staying) {
        MoveKind::Drain
    } else if before.iter().any(|broker| is_dropped(&broker)) {
        MoveKind::Spread
    } else {
        MoveKind::Reorder
    }
}
