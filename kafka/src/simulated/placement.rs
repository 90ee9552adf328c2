//! Replicas of a simulated cluster: where they are, and how that is changed.

use super::SimKafka;
use super::admin::Asked;
use super::metadata::Metadata;
use super::node::Node;
use super::partition::Partition;
use super::state::State;
use crate::client::{
    Altered, Assignment, Cluster, Error, OwnWords, PlacedBroker, PlacedPartition, PlacedTopic,
    Placement, PlacementView, Reassignment, TopicPartition, UnderWay,
};
use crate::settings::MIN_IN_SYNC;
use crate::throttle::{FOLLOWER_RATE, FOLLOWER_REPLICAS, LEADER_RATE, LEADER_REPLICAS};
use async_trait::async_trait;
use kafka_protocol::ResponseError;
use std::collections::BTreeSet;

const ALTER: &str = "AlterPartitionReassignments";

#[async_trait]
impl Placement for SimKafka {
    async fn read_placement(&self, cluster: &Cluster) -> Result<PlacementView, Error> {
        let near = cluster.nearest(self.active_controller());
        let named: Vec<i32> = cluster.brokers.iter().map(|broker| broker.node_id).collect();
        self.ask("DescribeTopicPartitions", &near.brokers, |asked| {
            asked.hand_on(|_| Ok(()))?;
            let view = asked.newest();
            if reassignments(&view) != reassignments(&asked.state.metadata) {
                return Err(asked.stale("the reassignments under way"));
            }
            Ok(asked.state.placement(&view, &named))
        })
    }

    async fn reassign(&self, cluster: &Cluster, to: &[Assignment]) -> Result<Altered, Error> {
        self.ask(ALTER, &cluster.brokers, |asked| {
            asked.hand_on(|state| {
                let mut altered = Altered::default();
                for Assignment { at, replicas } in to {
                    altered.note(at, state.reassign(at, replicas));
                }
                Ok(altered)
            })
        })
    }

    async fn cancel_reassignments(
        &self,
        cluster: &Cluster,
        of: &[TopicPartition],
    ) -> Result<Altered, Error> {
        self.ask(ALTER, &cluster.brokers, |asked| {
            asked.hand_on(|state| {
                let mut altered = Altered::default();
                for at in of {
                    altered.note(at, state.cancel(at));
                }
                Ok(altered)
            })
        })
    }

    async fn list_reassignments(&self, cluster: &Cluster) -> Result<Vec<Reassignment>, Error> {
        self.ask("ListPartitionReassignments", &cluster.brokers, |asked| {
            asked.hand_on(|state| Ok(reassignments(&state.metadata)))
        })
    }
}

impl Altered {
    fn note(&mut self, at: &TopicPartition, outcome: Result<(), Error>) {
        match outcome {
            Ok(()) => self.done.push(at.clone()),
            Err(error) => self.refused.push((at.clone(), error)),
        }
    }
}

impl Asked<'_> {
    /// What the broker knows after the time that a call waits for it.
    fn newest(&mut self) -> std::sync::Arc<Metadata> {
        if self.is_held() { self.view() } else { self.state.metadata.clone() }
    }
}

fn reassignments(metadata: &Metadata) -> Vec<Reassignment> {
    let mut all = Vec::new();
    for (name, topic) in &metadata.topics {
        for (index, it) in topic.partitions.iter().enumerate().filter(|(_, it)| it.is_reassigned())
        {
            all.push(Reassignment {
                at: TopicPartition::new(name, it.placed(index).index),
                replicas: it.replicas.clone(),
                adding: it.adding.clone(),
                removing: it.removing.clone(),
            });
        }
    }
    all
}

fn refusal(at: &TopicPartition, code: ResponseError, message: &str) -> Error {
    Error::Kafka { call: ALTER, subject: at.to_string(), code, message: message.to_owned() }
}

impl State {
    fn reassign(&mut self, at: &TopicPartition, to: &[i32]) -> Result<(), Error> {
        let place = self.place_of(at)?;
        let known = |id: &i32| self.metadata.brokers.contains_key(id);
        let distinct: BTreeSet<&i32> = to.iter().collect();
        if to.is_empty() || distinct.len() < to.len() || !to.iter().all(known) {
            let message = "The manual partition assignment includes no, unknown or equal brokers.";
            return Err(refusal(at, ResponseError::InvalidReplicaAssignment, message));
        }
        let there = &self.metadata.topics[place.0].partitions[place.1];
        if !there.is_reassigned() && there.replicas == to {
            return Ok(());
        }
        self.change().change_one(place, |partition, rules| partition.reassign(to, rules));
        self.clean_up(place);
        Ok(())
    }

    fn cancel(&mut self, at: &TopicPartition) -> Result<(), Error> {
        let place = self.place_of(at)?;
        let there = &self.metadata.topics[place.0].partitions[place.1];
        if !there.is_reassigned() {
            return Err(refusal(at, ResponseError::NoReassignmentInProgress, ""));
        }
        if there.in_sync.iter().all(|id| there.adding.contains(id)) {
            let message = "Unable to revert: it would require an unclean leader election.";
            return Err(refusal(at, ResponseError::InvalidReplicaAssignment, message));
        }
        self.change().change_one(place, Partition::cancel);
        self.clean_up(place);
        Ok(())
    }

    fn place_of<'a>(&self, at: &'a TopicPartition) -> Result<(&'a str, usize), Error> {
        let index = usize::try_from(at.partition).ok();
        let topic = self.metadata.topics.get(&at.topic);
        let index = index.filter(|it| topic.is_some_and(|topic| *it < topic.partitions.len()));
        let unknown = || refusal(at, ResponseError::UnknownTopicOrPartition, "");
        Ok((&at.topic, index.ok_or_else(unknown)?))
    }

    /// Ends reassignments that are complete. Whether there was one.
    pub(super) fn advance_reassignments(&mut self) -> bool {
        if !self.is_led() {
            return false;
        }
        let mut complete = Vec::new();
        for (name, topic) in &self.metadata.topics {
            let all = topic.partitions.iter().enumerate().filter(|(_, it)| it.is_complete());
            complete.extend(all.map(|(index, _)| (name.clone(), index)));
        }
        for (topic, index) in &complete {
            let place = (&**topic, *index);
            self.change().change_one(place, Partition::complete);
            self.clean_up(place);
        }
        !complete.is_empty()
    }

    /// Brokers delete what they are no replica of. One that is down does it when it is back,
    /// before anybody can ask.
    fn clean_up(&mut self, (topic, index): (&str, usize)) {
        let replicas = &self.metadata.topics[topic].partitions[index].replicas;
        let Some(copies) = self.copies.get_mut(&(topic.to_owned(), index)) else { return };
        let there: BTreeSet<i32> = copies.logs.keys().chain(copies.bulk.keys()).copied().collect();
        for broker in there.into_iter().filter(|id| !replicas.contains(id)) {
            copies.delete(broker);
        }
    }

    fn placement(&self, view: &Metadata, named: &[i32]) -> PlacementView {
        let brokers: BTreeSet<i32> = view.brokers.keys().chain(named).copied().collect();
        let broker = |id: i32| PlacedBroker {
            id,
            rack: self.nodes.get(&id).and_then(|node| node.rack.clone()),
            is_registered: view.brokers.contains_key(&id),
            is_fenced: view.brokers.get(&id).is_some_and(|it| it.fenced),
            own: self.nodes.get(&id).filter(|it| it.works()).map(|_| self.own_words(id)),
        };
        let topics = view.topics.iter().map(|(name, topic)| {
            let set = |setting: &str| topic.settings.contains_key(setting);
            let partitions = topic.partitions.iter().enumerate();
            PlacedTopic {
                name: name.clone(),
                min_in_sync: view.min_in_sync(topic),
                has_own_min_in_sync: set(MIN_IN_SYNC),
                is_throttled: set(LEADER_REPLICAS) || set(FOLLOWER_REPLICAS),
                partitions: partitions.map(|(index, it)| self.measured(name, index, it)).collect(),
            }
        });
        PlacementView {
            topics: topics.collect(),
            brokers: brokers.into_iter().map(broker).collect(),
        }
    }

    /// Sizes are told by brokers that work alone.
    fn measured(&self, topic: &str, index: usize, partition: &Partition) -> PlacedPartition {
        let copies = self.copies.get(&(topic.to_owned(), index));
        let works = |id: &&i32| self.nodes.get(id).is_some_and(Node::works);
        let bytes = |all: &[i32]| -> Vec<u64> {
            all.iter().filter(works).filter_map(|id| copies?.bytes(*id)).collect()
        };
        let reassignment = partition.is_reassigned().then(|| UnderWay {
            adding: partition.adding.clone(),
            removing: partition.removing.clone(),
            copied_bytes: bytes(&partition.adding).iter().sum(),
        });
        let bytes = bytes(&partition.replicas).into_iter().max().unwrap_or(0);
        PlacedPartition { bytes, reassignment, ..partition.placed(index) }
    }

    pub(super) fn own_words(&self, id: i32) -> OwnWords {
        let log_bytes = self.copies.values().filter_map(|copies| copies.bytes(id)).sum();
        let settings = self.metadata.broker_settings.get(&id);
        let rate = |name| settings?.get(name)?.parse().ok();
        let total_bytes = self.nodes.get(&id).and_then(|node| node.disk_bytes);
        OwnWords {
            log_bytes,
            total_bytes,
            usable_bytes: total_bytes.map(|total| total.saturating_sub(log_bytes)),
            throttle: [LEADER_RATE, FOLLOWER_RATE].into_iter().filter_map(rate).min(),
            is_cordoned: self.metadata.is_cordoned(id),
        }
    }
}
