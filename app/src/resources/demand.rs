//! When another number of replicas may be demanded to be in sync.
//!
//! Told of `min.insync.replicas`, Kafka from 4.1 on forgets which copies may lead the
//! partitions that have too few in sync. One without a leader never gets one again, and
//! the controllers keep half of what they forgot: once such a topic is deleted, and a
//! server of it starts after it did not stop in an orderly way, no controller stays
//! active. Nothing of it happens while no partition lacks any.

use super::Cluster;
use crate::{Error, InstanceAccess, Result};
use kafka::client::{Admin, Error as KafkaError, TopicPartition, TopicReplication};
use model::KafkaVersion;
use std::time::Duration;

/// The first release that tracks eligible leader replicas beside those in sync (ELR).
const FIRST_WITH_ELR: KafkaVersion = KafkaVersion::new(4, 1, 0);

/// Between two looks, each of which is at all topics.
const PAUSE: Duration = Duration::from_secs(2);

/// Waits until no partition lacks replicas in sync, of the topic or of all topics, as
/// long as the caller's patience lasts.
pub(crate) async fn demand_may_change(
    access: &InstanceAccess,
    cluster: &Cluster<'_>,
    topic: Option<&str>,
) -> Result<()> {
    if access.instance.kafka_version < FIRST_WITH_ELR {
        return Ok(());
    }
    while let Some(at) = cluster.ask(|admin, brokers| lacking(admin, brokers, topic)).await? {
        if !cluster.pause(PAUSE).await {
            return Err(Error::Refused(format!(
                "min.insync.replicas can't change while {at} has fewer replicas in sync than it \
                 needs, because Kafka would forget which of them may lead it; start the servers \
                 that are away first"
            )));
        }
    }
    Ok(())
}

async fn lacking(
    admin: &dyn Admin,
    brokers: &kafka::client::Cluster,
    topic: Option<&str>,
) -> std::result::Result<Option<TopicPartition>, KafkaError> {
    let all = admin.describe_replication(brokers).await?;
    Ok(first_lacking(&all, topic))
}

fn first_lacking(all: &[TopicReplication], topic: Option<&str>) -> Option<TopicPartition> {
    let concerned = all.iter().filter(|it| topic.is_none_or(|topic| topic == it.name));
    let mut partitions = concerned.flat_map(|it| it.partitions.iter().map(move |at| (it, at)));
    let lacks = partitions.find(|(it, at)| at.leader.is_none() || at.in_sync.len() < it.needed(at));
    lacks.map(|(it, at)| TopicPartition::new(&it.name, at.index))
}

#[cfg(test)]
mod tests {
    use super::*;
    use kafka::client::PartitionView;

    fn check(
        rows: &[(&str, usize, Option<i32>, &[i32])],
        topic: Option<&str>,
        expected: Option<&str>,
    ) {
        let of = |(name, min_in_sync, leader, in_sync): &(&str, usize, Option<i32>, &[i32])| {
            let view = PartitionView {
                index: 4,
                leader: *leader,
                replicas: vec![1, 2, 3],
                in_sync: in_sync.to_vec(),
            };
            TopicReplication {
                name: (*name).to_owned(),
                min_in_sync: *min_in_sync,
                partitions: vec![view],
            }
        };
        let all: Vec<TopicReplication> = rows.iter().map(of).collect();
        let found = first_lacking(&all, topic).map(|at| at.to_string());
        assert_eq!(found.as_deref(), expected, "{rows:?}");
    }

    #[test]
    fn a_partition_lacks_replicas_below_its_demand_or_without_a_leader() {
        check(&[], None, None);
        check(&[("a", 2, Some(1), &[1, 2])], None, None);
        check(&[("a", 2, Some(1), &[1])], None, Some("a-4"));
        check(&[("a", 1, None, &[])], None, Some("a-4"));
        check(&[("a", 1, None, &[1])], None, Some("a-4"));
        // No more can be in sync than there are.
        check(&[("a", 9, Some(1), &[1, 2, 3])], None, None);
        let other = [("a", 2, Some(1), &[1_i32][..]), ("b", 2, Some(1), &[1, 2][..])];
        check(&other, Some("b"), None);
        check(&other, Some("a"), Some("a-4"));
    }
}
