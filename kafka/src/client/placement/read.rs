//! One read of everything that moving replicas depends on.

use super::Reassignment;
use crate::client::admin::own_words::{AskItself, Itself};
use crate::client::admin::placement_parts::{Parts, ReadParts};
use crate::client::admin::quorum::DescribeQuorum;
use crate::client::{
    Broker, BrokerView, Cluster, ClusterView, Error, ProtocolAdmin, TopicPartition,
};
use crate::placement::{
    OwnWords, PlacedBroker, PlacedPartition, PlacedTopic, PlacementView, UnderWay,
};
use futures::future::join_all;
use std::collections::{BTreeMap, HashMap};
use std::time::Duration;
use tokio::time::timeout;

/// A broker that takes longer counts as not answering.
const PATIENCE: Duration = Duration::from_secs(5);

pub(super) async fn read(admin: &ProtocolAdmin, cluster: &Cluster) -> Result<PlacementView, Error> {
    let quorum = admin.ask(cluster, &DescribeQuorum).await?;
    let parts = admin.ask(&cluster.nearest(quorum.leader), &ReadParts).await?;
    let brokers = addresses(cluster, &parts.cluster);
    let asked = brokers.values().map(|broker| ask_itself(admin, cluster, broker));
    let itself = join_all(asked).await.into_iter().flatten().collect();
    Ok(put_together(parts, brokers.into_keys(), itself))
}

/// Where to ask each broker: as the caller says or, of those that it does not name, as the
/// others say.
fn addresses(cluster: &Cluster, view: &ClusterView) -> BTreeMap<i32, Broker> {
    let theirs = view.brokers.iter().map(|it| Broker::new(it.id, it.endpoint.clone()));
    let all = theirs.chain(cluster.brokers.iter().cloned());
    all.map(|broker| (broker.node_id, broker)).collect()
}

/// None if it does not answer. Without it the rest is still worth reading.
async fn ask_itself(
    admin: &ProtocolAdmin,
    cluster: &Cluster,
    broker: &Broker,
) -> Option<(i32, Itself)> {
    let alone = cluster.through(broker);
    let call = AskItself { broker: broker.node_id };
    match timeout(PATIENCE, admin.ask(&alone, &call)).await {
        Ok(Ok(itself)) => Some((broker.node_id, itself)),
        Ok(Err(error)) => {
            tracing::debug!(%broker, %error, "a broker tells nothing of itself");
            None
        }
        Err(_) => None,
    }
}

fn put_together(
    parts: Parts,
    brokers: impl Iterator<Item = i32>,
    itself: BTreeMap<i32, Itself>,
) -> PlacementView {
    let Parts { cluster, mut topics, under_way } = parts;
    let under_way: HashMap<TopicPartition, &Reassignment> =
        under_way.iter().map(|it| (it.at.clone(), it)).collect();
    for PlacedTopic { name, partitions, .. } in &mut topics {
        for partition in partitions {
            let at = TopicPartition::new(&**name, partition.index);
            measure(partition, &at, under_way.get(&at).copied(), &itself);
        }
    }
    let mut words: BTreeMap<i32, OwnWords> =
        itself.into_iter().map(|(id, itself)| (id, itself.words)).collect();
    let brokers = brokers.map(|id| placed(id, &cluster, words.remove(&id)));
    PlacementView { brokers: brokers.collect(), topics }
}

fn placed(id: i32, cluster: &ClusterView, own: Option<OwnWords>) -> PlacedBroker {
    let view: Option<&BrokerView> = cluster.brokers.iter().find(|it| it.id == id);
    PlacedBroker {
        id,
        rack: view.and_then(|it| it.rack.clone()),
        is_registered: view.is_some(),
        is_fenced: view.is_some_and(|it| it.fenced),
        own,
    }
}

/// Adds sizes, and how far its reassignment is.
fn measure(
    partition: &mut PlacedPartition,
    at: &TopicPartition,
    under_way: Option<&Reassignment>,
    itself: &BTreeMap<i32, Itself>,
) {
    let size = |id: &i32| itself.get(id).and_then(|it| it.logs.get(at)).copied();
    partition.bytes = partition.replicas.iter().filter_map(size).max().unwrap_or(0);
    partition.reassignment = under_way.map(|it| UnderWay {
        adding: it.adding.clone(),
        removing: it.removing.clone(),
        copied_bytes: it.adding.iter().filter_map(size).sum(),
    });
}
