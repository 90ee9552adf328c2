//! Groups over Kafka's protocol.

use super::{Group, GroupView, Groups};
use crate::client::admin::commit_offsets::CommitOffsets;
use crate::client::admin::delete_groups::DeleteGroup;
use crate::client::admin::describe_consumer_groups::DescribeConsumerGroups;
use crate::client::admin::describe_groups::DescribeGroups;
use crate::client::admin::fetch_offsets::FetchOffsets;
use crate::client::admin::find_coordinator::FindCoordinator;
use crate::client::admin::list_groups::{GroupKind, ListGroups};
use crate::client::admin::list_offsets::ListOffsets;
use crate::client::admin::routes::Routes;
use crate::client::ask::Brokers;
use crate::client::{At, Broker, Call, Cluster, Connection, Error, ProtocolAdmin, TopicPartition};
use async_trait::async_trait;
use std::collections::{BTreeMap, BTreeSet};

#[async_trait]
impl Groups for ProtocolAdmin {
    async fn list_groups(&self, cluster: &Cluster) -> Result<Vec<Group>, Error> {
        let brokers = self.brokers(cluster)?;
        let routes = brokers.routes(&[OFFSETS.to_owned()]).await?;
        all_are_led(&routes)?;
        let replies = brokers.ask_every(coordinators(&routes), |missing| {
            let silent: Vec<String> = missing.iter().map(|(at, _)| at.to_string()).collect();
            format!("{LIST} without {}", silent.join(", "))
        });
        gather(&brokers, replies.await?).await
    }

    async fn glimpse_groups(&self, cluster: &Cluster) -> Result<Vec<Group>, Error> {
        let brokers = self.brokers(cluster)?;
        let routes = brokers.routes(&[OFFSETS.to_owned()]).await?;
        let replies = brokers.ask_each(coordinators(&routes)).await?;
        gather(&brokers, replies).await
    }

    async fn describe_group(&self, cluster: &Cluster, name: &str) -> Result<Option<Group>, Error> {
        let brokers = self.brokers(cluster)?;
        let coordinator = brokers.ask(&FindCoordinator { group: name }).await?;
        let Some(group) = brokers.ask_at(&coordinator, &OneGroup { name }).await? else {
            return Ok(None);
        };
        let mut groups = [group];
        fill_ends(&brokers, &mut groups).await?;
        let [group] = groups;
        Ok(Some(group))
    }

    async fn find_offsets(
        &self,
        cluster: &Cluster,
        partitions: &[TopicPartition],
        at: At,
    ) -> Result<BTreeMap<TopicPartition, Option<i64>>, Error> {
        offsets(&self.brokers(cluster)?, partitions, at).await
    }

    async fn commit_offsets(
        &self,
        cluster: &Cluster,
        group: &str,
        offsets: &BTreeMap<TopicPartition, i64>,
    ) -> Result<(), Error> {
        let brokers = self.brokers(cluster)?;
        let coordinator = brokers.ask(&FindCoordinator { group }).await?;
        brokers.ask_at(&coordinator, &CommitOffsets { group, offsets }).await
    }

    async fn delete_group(&self, cluster: &Cluster, name: &str) -> Result<bool, Error> {
        let brokers = self.brokers(cluster)?;
        let coordinator = brokers.ask(&FindCoordinator { group: name }).await?;
        brokers.ask_at(&coordinator, &DeleteGroup { group: name }).await
    }

    async fn find_partitions(
        &self,
        cluster: &Cluster,
        topics: &[String],
    ) -> Result<BTreeMap<String, Vec<i32>>, Error> {
        let routes = self.brokers(cluster)?.routes(topics).await?;
        let numbers = |(topic, leaders): (String, BTreeMap<i32, Option<i32>>)| {
            (topic, leaders.into_keys().collect())
        };
        Ok(routes.topics.into_iter().map(numbers).collect())
    }
}

/// Who leads a partition of it coordinates the groups that are kept there.
const OFFSETS: &str = "__consumer_offsets";
const LIST: &str = "The list of groups";

/// Nobody knows of the groups of a partition that has no leader.
fn all_are_led(routes: &Routes) -> Result<(), Error> {
    let numbers = routes.topics.get(OFFSETS).into_iter().flat_map(BTreeMap::keys);
    let all: Vec<TopicPartition> = numbers.map(|it| TopicPartition::new(OFFSETS, *it)).collect();
    let without: Vec<&TopicPartition> =
        all.iter().filter(|at| routes.leader(at).is_none()).collect();
    if without.is_empty() {
        return Ok(());
    }
    let last = Box::new(Error::no_leaders(&without));
    Err(Error::Incomplete { what: LIST.to_owned(), last })
}

/// Those who coordinate any. Before the first group there is no such topic, or the
/// broker that was asked has not heard of it: then it may be anybody.
fn coordinators(routes: &Routes) -> Vec<(Broker, Coordinated)> {
    let led = routes.topics.get(OFFSETS).into_iter().flat_map(BTreeMap::values);
    let leaders: BTreeSet<i32> = led.flatten().copied().collect();
    let is_one = |(id, _): &(&i32, &Broker)| leaders.is_empty() || leaders.contains(*id);
    let brokers = routes.brokers.iter().filter(is_one);
    brokers.map(|(_, broker)| (broker.clone(), Coordinated)).collect()
}

async fn gather(brokers: &Brokers<'_>, replies: Vec<Vec<Group>>) -> Result<Vec<Group>, Error> {
    let mut groups: BTreeMap<String, Group> = BTreeMap::new();
    for group in replies.into_iter().flatten() {
        groups.insert(group.view.name.clone(), group);
    }
    let mut groups: Vec<Group> = groups.into_values().collect();
    fill_ends(brokers, &mut groups).await?;
    Ok(groups)
}

/// One request to each leader, whatever is asked of it.
pub(in crate::client) async fn offsets(
    brokers: &Brokers<'_>,
    partitions: &[TopicPartition],
    at: At,
) -> Result<BTreeMap<TopicPartition, Option<i64>>, Error> {
    if partitions.is_empty() {
        return Ok(BTreeMap::new());
    }
    let topics: BTreeSet<&String> = partitions.iter().map(|it| &it.topic).collect();
    let topics: Vec<String> = topics.into_iter().cloned().collect();
    let routes = brokers.routes(&topics).await?;
    let led = routes.by_leader(partitions).into_iter();
    let calls = led.map(|(leader, partitions)| (leader, ListOffsets { partitions, at }));
    match brokers.ask_each(calls.collect()).await {
        Ok(answers) => Ok(answers.into_iter().flatten().collect()),
        // Leaders that don't answer are as good as none.
        Err(error @ Error::Kafka { .. }) => Err(error),
        Err(error) if error.is_about_one_broker() => Ok(BTreeMap::new()),
        Err(error) => Err(error),
    }
}

async fn fill_ends(brokers: &Brokers<'_>, groups: &mut [Group]) -> Result<(), Error> {
    let all = groups.iter().flat_map(|group| &group.offsets).map(|offset| &offset.at);
    let partitions: BTreeSet<&TopicPartition> = all.collect();
    let partitions: Vec<TopicPartition> = partitions.into_iter().cloned().collect();
    let ends = offsets(brokers, &partitions, At::Latest).await?;
    for group in groups {
        group.fill_ends(&ends);
    }
    Ok(())
}

/// Every group that the broker which is asked coordinates.
struct Coordinated;

impl Call for Coordinated {
    type Answer = Vec<Group>;

    async fn run(&self, connection: &mut Connection) -> Result<Vec<Group>, Error> {
        let listed = ListGroups.run(connection).await?;
        let names = |kind: GroupKind| {
            let of_kind = listed.iter().filter(move |group| group.kind == kind);
            of_kind.map(|group| &*group.name).collect::<Vec<&str>>()
        };
        let mut views = Vec::new();
        let (classic, consumer) = (names(GroupKind::Classic), names(GroupKind::Consumer));
        if !classic.is_empty() {
            views.extend(DescribeGroups { groups: classic }.run(connection).await?);
        }
        if !consumer.is_empty() {
            views.extend(DescribeConsumerGroups { groups: consumer }.run(connection).await?);
        }
        with_offsets(connection, views).await
    }
}

/// One group of either kind, at its coordinator.
struct OneGroup<'a> {
    name: &'a str,
}

impl Call for OneGroup<'_> {
    type Answer = Option<Group>;

    async fn run(&self, connection: &mut Connection) -> Result<Option<Group>, Error> {
        let groups = vec![self.name];
        let mut views = DescribeConsumerGroups { groups: groups.clone() }.run(connection).await?;
        if views.is_empty() {
            views = DescribeGroups { groups }.run(connection).await?;
        }
        // What it tells of another group was not asked.
        views.retain(|view| view.name == self.name);
        Ok(with_offsets(connection, views).await?.pop())
    }
}

async fn with_offsets(
    connection: &mut Connection,
    views: Vec<GroupView>,
) -> Result<Vec<Group>, Error> {
    if views.is_empty() {
        return Ok(Vec::new());
    }
    let groups = views.iter().map(|view| &*view.name).collect();
    let committed = FetchOffsets { groups }.run(connection).await?;
    let none = BTreeMap::new();
    let group = |view: GroupView| {
        let committed = committed.get(&view.name).unwrap_or(&none);
        Group::new(view, committed)
    };
    Ok(views.into_iter().map(group).collect())
}

#[cfg(test)]
mod tests;
