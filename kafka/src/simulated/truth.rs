//! What is so in a simulated cluster, whatever any broker says of it.

use super::SimKafka;
use super::node::{Node, Process};
use model::Secret;
use std::collections::{BTreeMap, BTreeSet};

/// A partition as the controller has it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SimPartition {
    pub topic: String,
    pub index: usize,
    pub leader: Option<i32>,
    pub replicas: Vec<i32>,
    pub in_sync: Vec<i32>,
    /// Replicas and others that may lead it if none in sync is there.
    pub elr: Vec<i32>,
    /// Of the reassignment under way.
    pub adding: Vec<i32>,
    pub removing: Vec<i32>,
    /// Those in sync whose broker works.
    pub alive: Vec<i32>,
    /// How many must be in sync for writes to go on.
    pub needed: usize,
}

impl SimPartition {
    /// Whose copy counts: the leader's or, without one, those that may lead next.
    fn next_leaders(&self) -> Vec<i32> {
        match self.leader {
            Some(leader) => vec![leader],
            None if self.in_sync.is_empty() => self.elr.clone(),
            None => self.in_sync.clone(),
        }
    }
}

impl SimKafka {
    pub fn process(&self, id: i32) -> Process {
        self.state().nodes.get(&id).map_or(Process::Down, |node| node.process)
    }

    /// Whether its process is there and does nothing, as after SIGSTOP.
    pub fn stands_still(&self, id: i32) -> bool {
        let state = self.state();
        state.nodes.get(&id).is_some_and(|node| node.frozen && node.process != Process::Down)
    }

    /// How often it was asked.
    pub fn calls(&self) -> usize {
        self.state().calls
    }

    pub fn voter_ids(&self) -> BTreeSet<i32> {
        self.state().voting.voters.clone()
    }

    /// The controller that decides, if one does.
    pub fn active_controller(&self) -> Option<i32> {
        self.state().voting.leader
    }

    /// Whether a majority of the controllers runs.
    pub fn has_quorum(&self) -> bool {
        self.state().has_majority()
    }

    /// Whether a controller is active and can change things.
    pub fn is_led(&self) -> bool {
        self.state().is_led()
    }

    /// A controller became active without all that had been decided.
    pub fn lost_metadata(&self) -> bool {
        self.state().voting.lost
    }

    /// Whether customers can use this broker: it runs and is part of a cluster
    /// with a quorum.
    pub fn serves(&self, id: i32) -> bool {
        let state = self.state();
        state.nodes.get(&id).is_some_and(Node::works)
            && state.metadata.is_active(id)
            && state.has_majority()
    }

    /// Whether a customer who comes to this broker now is let in.
    pub fn lets_in(&self, id: i32, user: &str, password: &Secret) -> bool {
        let serves = self.serves(id);
        let mut state = self.state();
        let now = state.now;
        let view = state.nodes.get_mut(&id).map(|node| node.view(now));
        serves && view.is_some_and(|view| view.users.get(user) == Some(password))
    }

    /// Whether the controllers know the user by this password.
    pub fn knows(&self, user: &str, password: &Secret) -> bool {
        self.state().metadata.users.get(user) == Some(password)
    }

    /// What is set for all brokers.
    pub fn chosen_settings(&self) -> BTreeMap<String, String> {
        self.state().metadata.settings.clone()
    }

    /// Whether the principal has any right.
    pub fn has_rights(&self, principal: &str) -> bool {
        self.state().metadata.acls.iter().any(|acl| acl.principal == principal)
    }

    pub fn partitions(&self) -> Vec<SimPartition> {
        let state = self.state();
        let alive = |id: &&i32| state.nodes.get(id).is_some_and(Node::works);
        let mut all = Vec::new();
        for (name, topic) in &state.metadata.topics {
            for (index, partition) in topic.partitions.iter().enumerate() {
                all.push(SimPartition {
                    topic: name.clone(),
                    index,
                    leader: partition.leader,
                    replicas: partition.replicas.clone(),
                    in_sync: partition.in_sync.clone(),
                    elr: partition.elr.clone(),
                    adding: partition.adding.clone(),
                    removing: partition.removing.clone(),
                    alive: partition.in_sync.iter().filter(alive).copied().collect(),
                    needed: state.metadata.min_in_sync(topic).min(partition.replicas.len()),
                });
            }
        }
        all
    }

    /// Who is in sync by the word of every broker that works, and works itself. A
    /// change of the last moments is not among what they know.
    pub fn agreed_in_sync(&self, topic: &str, index: usize) -> Vec<i32> {
        let mut state = self.state();
        let now = state.now;
        let works = |id: &i32, nodes: &BTreeMap<i32, Node>| nodes.get(id).is_some_and(Node::works);
        let all: Vec<i32> = state.nodes.keys().copied().collect();
        let working: Vec<i32> = all.into_iter().filter(|id| works(id, &state.nodes)).collect();
        let mut agreed = working.clone();
        for id in &working {
            let Some(node) = state.nodes.get_mut(id) else { continue };
            let view = node.view(now);
            let Some(seen) = view.topics.get(topic).and_then(|it| it.partitions.get(index)) else {
                continue;
            };
            agreed.retain(|id| seen.in_sync.contains(id));
        }
        agreed
    }

    /// Acknowledged writes that are gone: from the leader's copy or, where
    /// nobody leads, from every copy that may lead next.
    pub fn lost_writes(&self) -> Vec<(String, usize, u64)> {
        let partitions = self.partitions();
        let state = self.state();
        let mut lost = Vec::new();
        for partition in partitions {
            let from = partition.next_leaders();
            let place = (partition.topic, partition.index);
            let Some(copies) = state.copies.get(&place) else { continue };
            let missing = copies.missing(&from);
            lost.extend(missing.into_iter().map(|write| (place.0.clone(), place.1, write)));
        }
        lost
    }

    /// Acknowledged bytes of [`SimKafka::fill`] that are gone, by partition.
    pub fn lost_bytes(&self) -> Vec<(String, usize, u64)> {
        let partitions = self.partitions();
        let state = self.state();
        let lost = partitions.into_iter().filter_map(|partition| {
            let from = partition.next_leaders();
            let place = (partition.topic, partition.index);
            let lost = state.copies.get(&place)?.missing_bulk(&from);
            (lost > 0).then_some((place.0, place.1, lost))
        });
        lost.collect()
    }

    /// The size of a partition's copy on a broker, if it has one.
    pub fn copy_bytes(&self, topic: &str, index: usize, broker: i32) -> Option<u64> {
        self.state().copies.get(&(topic.to_owned(), index))?.bytes(broker)
    }

    /// Brokers that the controllers know, fenced or not.
    pub fn registered(&self) -> BTreeSet<i32> {
        self.state().metadata.brokers.keys().copied().collect()
    }
}
