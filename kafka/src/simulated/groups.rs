//! Groups of a simulated cluster. Whoever is asked answers for their
//! coordinator, and offsets are kept as long as their topic.

use super::SimKafka;
use super::state::State;
use crate::Endpoint;
use crate::client::groups::{Group, GroupOffset, GroupView, Groups, Member};
use crate::client::{At, Cluster, Error, TopicPartition};
use async_trait::async_trait;
use kafka_protocol::ResponseError;
use std::collections::BTreeMap;

#[derive(Clone, Debug, Default)]
pub(super) struct SimGroup {
    protocol_type: String,
    members: Vec<Member>,
    offsets: BTreeMap<TopicPartition, i64>,
}

#[async_trait]
impl Groups for SimKafka {
    async fn list_groups(&self, cluster: &Cluster) -> Result<Vec<Group>, Error> {
        let (groups, silent) = self.ask("ListGroups", &cluster.brokers, |asked| {
            Ok((asked.state.all_groups(), asked.state.silent_coordinator()))
        })?;
        let Some(endpoint) = silent else { return Ok(groups) };
        let what = format!("The list of groups without {endpoint}");
        let reason = "refused the connection".to_owned();
        let last = Box::new(Error::Unreachable { endpoint, reason });
        Err(Error::Incomplete { what, last })
    }

    async fn glimpse_groups(&self, cluster: &Cluster) -> Result<Vec<Group>, Error> {
        self.ask("ListGroups", &cluster.brokers, |asked| Ok(asked.state.all_groups()))
    }

    async fn describe_group(&self, cluster: &Cluster, name: &str) -> Result<Option<Group>, Error> {
        self.ask("DescribeGroups", &cluster.brokers, |asked| Ok(asked.state.group(name)))
    }

    async fn find_offsets(
        &self,
        cluster: &Cluster,
        partitions: &[TopicPartition],
        at: At,
    ) -> Result<BTreeMap<TopicPartition, Option<i64>>, Error> {
        self.ask("ListOffsets", &cluster.brokers, |asked| {
            let state = &asked.state;
            Ok(partitions.iter().filter_map(|it| state.find_offset(it, at)).collect())
        })
    }

    async fn commit_offsets(
        &self,
        cluster: &Cluster,
        group: &str,
        offsets: &BTreeMap<TopicPartition, i64>,
    ) -> Result<(), Error> {
        self.ask("OffsetCommit", &cluster.brokers, |asked| {
            let there = asked.state.groups.entry(group.to_owned()).or_default();
            if !there.members.is_empty() {
                let at = offsets.keys().next().map(ToString::to_string).unwrap_or_default();
                let subject = format!("{at} of group {group}");
                return Err(refusal("OffsetCommit", subject, ResponseError::UnknownMemberId, ""));
            }
            there.offsets.extend(offsets.iter().map(|(at, offset)| (at.clone(), *offset)));
            Ok(())
        })
    }

    async fn delete_group(&self, cluster: &Cluster, name: &str) -> Result<bool, Error> {
        self.ask("DeleteGroups", &cluster.brokers, |asked| {
            let members = asked.state.groups.get(name).map(|group| group.members.len());
            if members.is_some_and(|members| members > 0) {
                let (code, why) = (ResponseError::NonEmptyGroup, "it has members; stop them first");
                return Err(refusal("DeleteGroups", name.to_owned(), code, why));
            }
            Ok(asked.state.groups.remove(name).is_some())
        })
    }

    async fn find_partitions(
        &self,
        cluster: &Cluster,
        topics: &[String],
    ) -> Result<BTreeMap<String, Vec<i32>>, Error> {
        self.ask("Metadata", &cluster.brokers, |asked| {
            let view = asked.view();
            let numbers = |name: &String| {
                let partitions = view.topics.get(name)?.partitions.iter().enumerate();
                Some((name.clone(), partitions.map(|(at, it)| it.view(at).index).collect()))
            };
            Ok(topics.iter().filter_map(numbers).collect())
        })
    }
}

fn refusal(call: &'static str, subject: String, code: ResponseError, why: &str) -> Error {
    Error::Kafka { call, subject, code, message: why.to_owned() }
}

impl SimKafka {
    /// A consumer joins the group and gets what it says.
    pub fn join_group(&self, group: &str, member: Member) {
        let mut state = self.state();
        let group = state.groups.entry(group.to_owned()).or_default();
        "consumer".clone_into(&mut group.protocol_type);
        group.members.retain(|there| there.id != member.id);
        group.members.push(member);
    }

    /// Every member leaves the group, which stays.
    pub fn leave_group(&self, group: &str) {
        if let Some(group) = self.state().groups.get_mut(group) {
            group.members.clear();
        }
    }
}

impl State {
    fn all_groups(&self) -> Vec<Group> {
        self.groups.keys().filter_map(|name| self.group(name)).collect()
    }

    /// One whose groups nobody has taken over yet: it is gone, and its session is not.
    fn silent_coordinator(&self) -> Option<Endpoint> {
        let nodes = self.nodes.values().filter(|node| self.metadata.is_active(node.spec.id));
        let mut silent = nodes.filter(|node| !node.works());
        silent.next().map(|node| node.spec.internal.clone())
    }

    fn group(&self, name: &str) -> Option<Group> {
        let group = self.groups.get(name)?;
        let state = if group.members.is_empty() { "Empty" } else { "Stable" };
        let view = GroupView {
            name: name.to_owned(),
            state: state.to_owned(),
            protocol_type: group.protocol_type.clone(),
            members: group.members.clone(),
        };
        let mut whole = Group::new(view, &group.offsets);
        let end = |offset: &GroupOffset| self.find_offset(&offset.at, At::Latest);
        let ends = whole.offsets.iter().filter_map(end).collect();
        whole.fill_ends(&ends);
        Some(whole)
    }

    /// Offsets go with their topic.
    pub(super) fn forget_offsets(&mut self, topic: &str) {
        for group in self.groups.values_mut() {
            group.offsets.retain(|at, _| at.topic != topic);
        }
    }
}
