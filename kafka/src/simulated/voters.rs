//! Who is part of a simulated cluster: controllers that vote and brokers that are registered.

use super::SimKafka;
use super::state::State;
use crate::client::{Cluster, Error, NewVoter, Voters};
use async_trait::async_trait;
use kafka_protocol::ResponseError;
use uuid::Uuid;

#[async_trait]
impl Voters for SimKafka {
    async fn add_voter(&self, cluster: &Cluster, voter: &NewVoter) -> Result<bool, Error> {
        let near = cluster.nearest(self.active_controller());
        // What the leader says is not asked of others.
        self.ask("AddRaftVoter", &near.brokers, |asked| {
            asked.hand_on(|state| Ok(state.add_voter(voter.id, voter.directory)))
        })?
    }

    async fn remove_voter(
        &self,
        cluster: &Cluster,
        id: i32,
        directory: Uuid,
    ) -> Result<bool, Error> {
        let near = cluster.nearest(self.active_controller());
        self.ask("RemoveRaftVoter", &near.brokers, |asked| {
            asked.hand_on(|state| Ok(state.remove_voter(id, directory)))
        })?
    }

    async fn unregister_broker(&self, cluster: &Cluster, broker: i32) -> Result<bool, Error> {
        self.ask("UnregisterBroker", &cluster.brokers, |asked| {
            let was_there = asked.hand_on(|state| Ok(state.unregister(broker)))?;
            if was_there { asked.until_read(true) } else { Ok(false) }
        })
    }
}

fn refused(call: &'static str, id: i32, code: ResponseError, message: &str) -> Error {
    let subject = format!("controller {id}");
    Error::Kafka { call, subject, code, message: message.to_owned() }
}

impl State {
    fn add_voter(&mut self, id: i32, directory: Uuid) -> Result<bool, Error> {
        let refused = |code, message| Err(refused("AddRaftVoter", id, code, message));
        let node = self.nodes.get(&id);
        let is_its = node.is_some_and(|node| node.directory == directory);
        if self.voting.voters.contains(&id) {
            let message = "The voter id is already part of the set of voters.";
            return if is_its {
                Ok(false)
            } else {
                refused(ResponseError::DuplicateVoter, message)
            };
        }
        if self.is_changing_voters() {
            let message = "Request timed out waiting for leader to handle previous voter change";
            return refused(ResponseError::RequestTimedOut, message);
        }
        let caught_up = |at: model::Timestamp| at <= self.now;
        let is_ready = node.is_some_and(|node| node.votes() && node.joins_at.is_none_or(caught_up));
        if !is_ready || !is_its {
            let message = "Aborted add voter operation since the new voter does not catch up";
            return refused(ResponseError::RequestTimedOut, message);
        }
        self.voting.voters.insert(id);
        self.note_voter_change();
        Ok(true)
    }

    fn remove_voter(&mut self, id: i32, directory: Uuid) -> Result<bool, Error> {
        let refused = |code, message| Err(refused("RemoveRaftVoter", id, code, message));
        let is_its = self.nodes.get(&id).is_some_and(|node| node.directory == directory);
        if !self.voting.voters.contains(&id) || !is_its {
            return Ok(false);
        }
        if self.is_changing_voters() {
            let message = "Request timed out waiting for leader to handle previous voter change";
            return refused(ResponseError::RequestTimedOut, message);
        }
        if self.voting.voters.len() == 1 {
            let message = "The last voter can't be removed";
            return refused(ResponseError::VoterNotFound, message);
        }
        self.voting.voters.remove(&id);
        self.note_voter_change();
        if self.voting.leader == Some(id) {
            self.voting.leader = None;
            self.voting.election_due = Some(self.now + self.timing.handover);
        }
        Ok(true)
    }

    fn is_changing_voters(&self) -> bool {
        self.voting.changing_until.is_some_and(|until| until > self.now)
    }

    fn note_voter_change(&mut self) {
        self.voting.changing_until = Some(self.now + self.timing.vote);
        self.voting.end += 1;
        self.beat();
    }

    /// Accepted whatever the broker holds. Partitions that only it had have no leader from
    /// then on, also if it comes back.
    fn unregister(&mut self, broker: i32) -> bool {
        if !self.metadata.brokers.contains_key(&broker) {
            return false;
        }
        let metadata = self.change();
        metadata.brokers.remove(&broker);
        metadata.retire(broker);
        metadata.each(|partition, _| partition.forget(broker));
        true
    }
}
