//! Where all replicas of a cluster are, as the mover takes it.

use crate::{Error, Reach};
use kafka::client::{OwnWords, PlacedBroker, PlacedPartition, PlacedTopic, PlacementView};
use model::{InstanceId, Server};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// What we know of servers and Kafka does not.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub struct Ours {
    /// Brokers that leave, by node id.
    pub leaving: BTreeSet<i32>,
    /// Size of each broker's disk, by node id. A cloud may enforce it without a file system of
    /// that size, so it goes before what Kafka tells.
    pub disk_bytes: BTreeMap<i32, u64>,
}

/// A cluster as the mover takes it, and what else was read with it.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub struct Placement {
    pub cluster: mover::Cluster,
    pub view: PlacementView,
}

impl Reach {
    /// One read of all replicas. The brokers of `servers` that are not registered or don't
    /// answer are in it, and not up. Brokers that are registered and not among `servers` leave.
    pub async fn placement(
        &self,
        id: InstanceId,
        servers: &[Server],
        ours: &Ours,
    ) -> Result<Placement, Error> {
        let servers: Vec<Server> = servers.iter().filter(|it| it.is_broker()).cloned().collect();
        let through = self.cluster(id, &servers).await?;
        let view = self.admin.placement().read_placement(&through).await?;
        let known: BTreeSet<i32> = servers.iter().map(|server| server.node_id).collect();
        Ok(Placement { cluster: for_mover(&view, &known, ours), view })
    }
}

/// The conversion alone. Pure.
pub fn for_mover(view: &PlacementView, known: &BTreeSet<i32>, ours: &Ours) -> mover::Cluster {
    let broker = |it: &PlacedBroker| {
        let disk = ours.disk_bytes.get(&it.id).copied();
        let (disk_bytes, free_bytes) =
            it.own.as_ref().map_or((disk.unwrap_or(0), 0), |own| room(own, disk));
        mover::Broker {
            node: it.id,
            rack: it.rack.clone(),
            disk_bytes,
            free_bytes,
            is_leaving: ours.leaving.contains(&it.id) || !known.contains(&it.id),
            is_up: it.is_up(),
        }
    };
    mover::Cluster {
        brokers: view.brokers.iter().map(broker).collect(),
        partitions: view.topics.iter().flat_map(partitions).collect(),
    }
}

/// Size of a disk and what is free there: what is less of what we and Kafka know.
fn room(own: &OwnWords, disk: Option<u64>) -> (u64, u64) {
    let ours = disk.map(|size| (size, size.saturating_sub(own.log_bytes)));
    let theirs = own.total_bytes.zip(own.usable_bytes);
    match (ours, theirs) {
        (Some((size, free)), Some((total, usable))) => (size.min(total), free.min(usable)),
        (Some(room), None) | (None, Some(room)) => room,
        (None, None) => (0, 0),
    }
}

fn partitions(topic: &PlacedTopic) -> impl Iterator<Item = mover::Partition> + '_ {
    let name: Arc<str> = topic.name.as_str().into();
    let partition = move |it: &PlacedPartition| mover::Partition {
        topic: name.clone(),
        index: it.index,
        bytes: it.bytes,
        min_isr: topic.min_in_sync,
        replicas: it.replicas.clone(),
        leader: it.leader,
        in_sync: it.in_sync.clone(),
        elr: it.elr.clone(),
        reassignment: it.reassignment.as_ref().map(|it| mover::Reassignment {
            adding: it.adding.clone(),
            removing: it.removing.clone(),
            copied_bytes: it.copied_bytes,
        }),
    };
    topic.partitions.iter().map(partition)
}

#[cfg(test)]
mod tests;
