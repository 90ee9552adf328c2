//! As many replicas as wanted, and none on leaving brokers: what has to move, whatever is even.

use crate::aim::is_internal;
use crate::cluster::PartitionName;
use crate::layout::Layout;
use std::cmp::Reverse;
use std::sync::Arc;

/// A topic that keeps its replicas because the disks have no room for more.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NotRaised {
    pub topic: Arc<str>,
    /// What it would take.
    pub bytes: u64,
}

/// A replica on a leaving broker for which no other broker has room.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Unplaced {
    pub partition: PartitionName,
    pub node: i32,
    pub bytes: u64,
}

/// Drops replicas of partitions that have more than wanted.
pub fn drop_surplus(layout: &mut Layout<'_>, wanted: &[usize]) {
    for (at, wanted) in wanted.iter().enumerate() {
        while layout.replicas[at].len() > *wanted {
            let replicas = layout.replicas[at].iter().copied();
            let Some(broker) = replicas.max_by_key(|broker| surplus(layout, at, *broker)) else {
                break;
            };
            layout.remove(at, broker);
        }
    }
}

/// The greatest goes first: it leaves, or lags, or its rack has another copy, or it does not
/// lead, or its broker is the fullest.
fn surplus(layout: &Layout<'_>, at: usize, broker: usize) -> impl Ord + use<> {
    let partition = &layout.partitions[at];
    let node = layout.nodes[broker];
    let others = layout.replicas[at].iter().filter(|other| **other != broker);
    let shares_rack = others.into_iter().any(|other| layout.same_rack(*other, broker));
    (
        broker >= layout.staying,
        !partition.in_sync.contains(&node),
        shares_rack,
        partition.leader != Some(node),
        layout.burden(broker),
        broker,
    )
}

/// Finds a new broker for every replica on a leaving one: the largest first, which comes out
/// most even.
pub fn drain(layout: &mut Layout<'_>) -> Vec<Unplaced> {
    let mut leaving: Vec<(usize, usize)> = Vec::new();
    for (at, replicas) in layout.replicas.iter().enumerate() {
        let gone = replicas.iter().filter(|broker| **broker >= layout.staying);
        leaving.extend(gone.map(|broker| (at, *broker)));
    }
    leaving.sort_by_key(|(at, _)| Reverse(layout.bytes(*at)));
    let mut unplaced = Vec::new();
    for (at, from) in leaving {
        if let Some(to) = best_place(layout, at, Some(from)) {
            layout.relocate(at, from, to);
        } else {
            let (partition, node) = (layout.partitions[at].name(), layout.nodes[from]);
            unplaced.push(Unplaced { partition, node, bytes: layout.bytes(at) });
        }
    }
    unplaced
}

/// Adds replicas to partitions that have fewer than wanted: to whole topics only, Kafka's own
/// and then the smallest first, so that as many topics as possible are safe.
pub fn raise(layout: &mut Layout<'_>, wanted: &[usize]) -> Vec<NotRaised> {
    let mut topics: Vec<Vec<usize>> = vec![Vec::new(); layout.topics()];
    for (at, wanted) in wanted.iter().enumerate() {
        if layout.replicas[at].len() < *wanted {
            topics[layout.topic(at)].push(at);
        }
    }
    topics.retain(|partitions| !partitions.is_empty());
    let missing = |partitions: &[usize]| -> u64 {
        let copies = |at: &usize| (wanted[*at] - layout.replicas[*at].len()) as u64;
        partitions.iter().map(|at| layout.bytes(*at) * copies(at)).sum()
    };
    let mut topics: Vec<(bool, u64, Vec<usize>)> = topics
        .into_iter()
        .map(|it| (!is_internal(&layout.partitions[it[0]].topic), missing(&it), it))
        .collect();
    topics.sort();
    let mut not_raised = Vec::new();
    for (_, bytes, partitions) in topics {
        if !raise_topic(layout, &partitions, wanted) {
            let topic = layout.partitions[partitions[0]].topic.clone();
            not_raised.push(NotRaised { topic, bytes });
        }
    }
    not_raised
}

/// All of its partitions, or none.
fn raise_topic(layout: &mut Layout<'_>, partitions: &[usize], wanted: &[usize]) -> bool {
    let mut added = Vec::new();
    for at in partitions {
        while layout.replicas[*at].len() < wanted[*at] {
            let Some(broker) = best_place(layout, *at, None) else {
                for (at, broker) in added {
                    layout.remove(at, broker);
                }
                return false;
            };
            layout.add(*at, broker);
            added.push((*at, broker));
        }
    }
    true
}

/// A broker with room for another replica, or for one instead of another: in a rack of its own
/// if there is one, and with the least on it.
fn best_place(layout: &Layout<'_>, at: usize, instead_of: Option<usize>) -> Option<usize> {
    let others = || layout.replicas[at].iter().filter(|it| Some(**it) != instead_of);
    let shares_rack = |broker: usize| others().any(|other| layout.same_rack(*other, broker));
    (0..layout.staying)
        .filter(|broker| !layout.holds(at, *broker) && layout.has_room(at, *broker))
        .min_by_key(|broker| {
            (shares_rack(*broker), layout.burden(*broker), layout.of_topic(at, *broker), *broker)
        })
}
