//! Refuses an aim that can't be reached, before anything moves, with names and numbers.

use crate::aim::Aim;
use crate::cluster::Cluster;
use crate::layout::{Layout, SPARE_PART};
use crate::plan::{MovePlan, plan};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

/// Why an aim can't be reached.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Refusal {
    #[error("no broker would remain")]
    NoBrokerStays,
    #[error(
        "one of {brokers} brokers would remain, with one copy of everything: \
        ask for that with accept_single_copy"
    )]
    SingleCopy { brokers: usize },
    #[error(
        "topic {topic} is to have {replicas} replicas and {staying} brokers would remain: \
        give it fewer replicas first"
    )]
    TooManyReplicas { topic: Arc<str>, replicas: usize, staying: usize },
    #[error(
        "{} have to move, and with {} % of each disk left free there is no place for {} of it, \
        such as {largest}: {}",
        Bytes(*moving), 100 / SPARE_PART, Bytes(*unplaced), Rooms(rooms)
    )]
    DisksTooSmall {
        /// Bytes on leaving brokers that have to go elsewhere.
        moving: u64,
        /// Those of them that no broker has room for.
        unplaced: u64,
        /// The largest partition of these.
        largest: String,
        rooms: Vec<Room>,
    },
}

/// What a staying broker can take.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Room {
    pub node: i32,
    pub bytes: u64,
}

/// Bytes for people.
struct Bytes(u64);

impl fmt::Display for Bytes {
    #[expect(clippy::cast_precision_loss, reason = "one decimal is shown")]
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            0..1_000_000 => write!(f, "{} bytes", self.0),
            1_000_000..1_000_000_000 => write!(f, "{:.1} MB", self.0 as f64 / 1e6),
            _ => write!(f, "{:.1} GB", self.0 as f64 / 1e9),
        }
    }
}

struct Rooms<'a>(&'a [Room]);

impl fmt::Display for Rooms<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, room) in self.0.iter().enumerate() {
            let comma = if at == 0 { "" } else { ", " };
            write!(f, "{comma}broker {} can take {}", room.node, Bytes(room.bytes))?;
        }
        Ok(())
    }
}

/// Whether the aim can be reached from here.
pub fn check(cluster: &Cluster, aim: &Aim) -> Result<(), Vec<Refusal>> {
    let refusals = refusals(cluster, aim, &plan(cluster, aim));
    if refusals.is_empty() { Ok(()) } else { Err(refusals) }
}

/// The same for a plan that was made already.
pub(crate) fn refusals(cluster: &Cluster, aim: &Aim, plan: &MovePlan) -> Vec<Refusal> {
    if let Some(refusal) = too_few_brokers(cluster, aim) {
        return vec![refusal];
    }
    let too_many = too_many_replicas(cluster, aim, cluster.staying().count());
    if !too_many.is_empty() {
        return too_many;
    }
    disks_too_small(cluster, plan).into_iter().collect()
}

/// Then nothing at all may move, not even what could.
pub(crate) fn too_few_brokers(cluster: &Cluster, aim: &Aim) -> Option<Refusal> {
    let brokers = cluster.brokers.len();
    match cluster.staying().count() {
        0 => Some(Refusal::NoBrokerStays),
        1 if brokers > 1 && !aim.accept_single_copy => Some(Refusal::SingleCopy { brokers }),
        _ => None,
    }
}

fn too_many_replicas(cluster: &Cluster, aim: &Aim, staying: usize) -> Vec<Refusal> {
    let mut most: BTreeMap<&Arc<str>, usize> = BTreeMap::new();
    for partition in &cluster.partitions {
        let replicas = aim.replicas(partition, partition.settled().len(), staying);
        let found = most.entry(&partition.topic).or_default();
        *found = replicas.max(*found);
    }
    let refused = most.into_iter().filter(|(_, replicas)| *replicas > staying);
    refused
        .map(|(topic, replicas)| Refusal::TooManyReplicas {
            topic: topic.clone(),
            replicas,
            staying,
        })
        .collect()
}

fn disks_too_small(cluster: &Cluster, plan: &MovePlan) -> Option<Refusal> {
    let largest = plan.unplaced.iter().max_by_key(|it| it.bytes)?;
    let layout = Layout::new(cluster);
    let room = |broker: usize| Room {
        node: layout.nodes[broker],
        bytes: u64::try_from(layout.room[broker]).unwrap_or(0),
    };
    Some(Refusal::DisksTooSmall {
        moving: layout.load[layout.staying..].iter().sum(),
        unplaced: plan.unplaced.iter().map(|it| it.bytes).sum(),
        largest: largest.partition.to_string(),
        rooms: (0..layout.staying).map(room).collect(),
    })
}
