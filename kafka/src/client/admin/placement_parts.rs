//! What one broker tells of all brokers, topics and reassignments.
//!
//! Reassignments come from the active controller, partitions from what this broker has read of
//! the metadata log. Reassignments are listed before and after: if nothing changed in between
//! and the broker shows the replicas of each, both speak of the same moment.

use super::cluster::DescribeCluster;
use super::configs::{Of, Selected, select};
use super::reassignments::ListReassignments;
use super::topic_partitions::DescribePartitions;
use crate::client::{
    Call, ClusterView, Connection, Error, PlacedPartition, PlacedTopic, Reassignment,
};
use crate::settings::MIN_IN_SYNC;
use crate::throttle::{FOLLOWER_REPLICAS, LEADER_REPLICAS};
use kafka_protocol::messages::DescribeConfigsRequest;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;
use tokio::time::sleep;

/// How often the parts are read until they fit each other.
const ATTEMPTS: usize = 10;
const PAUSE: Duration = Duration::from_millis(50);

pub struct ReadParts;

#[derive(Debug)]
pub struct Parts {
    pub cluster: ClusterView,
    /// By name; without sizes and reassignments.
    pub topics: Vec<PlacedTopic>,
    pub under_way: Vec<Reassignment>,
}

type Partitions = BTreeMap<String, Vec<PlacedPartition>>;

impl Call for ReadParts {
    type Answer = Parts;

    async fn run(&self, connection: &mut Connection) -> Result<Parts, Error> {
        let mut before = ListReassignments.run(connection).await?;
        for attempt in 0..ATTEMPTS {
            if attempt > 0 {
                sleep(PAUSE).await;
            }
            let partitions = DescribePartitions.run(connection).await?;
            let after = ListReassignments.run(connection).await?;
            if before == after && shows(&partitions, &after) {
                let topics = with_settings(connection, partitions).await?;
                let cluster = DescribeCluster.run(connection).await?;
                return Ok(Parts { cluster, topics, under_way: after });
            }
            before = after;
        }
        let what = "the reassignments under way".to_owned();
        Err(Error::Stale { endpoint: connection.endpoint().clone(), what })
    }
}

/// Whether the partitions have all replicas of their reassignments. A topic that is gone does
/// not count.
fn shows(partitions: &Partitions, all: &[Reassignment]) -> bool {
    let set = |replicas: &[i32]| replicas.iter().copied().collect::<BTreeSet<i32>>();
    all.iter().all(|it| {
        let topic = partitions.get(&it.at.topic);
        let found = topic.and_then(|topic| topic.iter().find(|p| p.index == it.at.partition));
        found.is_none_or(|found| set(&found.replicas) == set(&it.replicas))
    })
}

async fn with_settings(
    connection: &mut Connection,
    all: Partitions,
) -> Result<Vec<PlacedTopic>, Error> {
    let names: Vec<Of> = all.keys().map(|name| Of::Topic(name)).collect();
    let wanted = [MIN_IN_SYNC, LEADER_REPLICAS, FOLLOWER_REPLICAS];
    let mut settings = select(connection, &names, &wanted).await?;
    let mut topics = Vec::with_capacity(all.len());
    for (name, partitions) in all {
        // One without settings was deleted between two calls.
        let Some(settings) = settings.remove(&name) else { continue };
        let Some(topic) = topic(&name, &settings) else {
            let reason = format!("it does not give {MIN_IN_SYNC} of {name}");
            return Err(connection.malformed::<DescribeConfigsRequest>(reason));
        };
        topics.push(PlacedTopic { partitions, ..topic });
    }
    Ok(topics)
}

fn topic(name: &str, settings: &[Selected]) -> Option<PlacedTopic> {
    let find = |name: &str| settings.iter().find(|it| it.name == name);
    let min_in_sync = find(MIN_IN_SYNC)?;
    let mut throttles = [LEADER_REPLICAS, FOLLOWER_REPLICAS].into_iter().filter_map(find);
    Some(PlacedTopic {
        name: name.to_owned(),
        min_in_sync: min_in_sync.value.parse().ok()?,
        has_own_min_in_sync: min_in_sync.is_own,
        is_throttled: throttles.any(|it| it.is_own),
        partitions: vec![],
    })
}
