//! The controllers of a simulated cluster: who votes, and who is active.

use super::node::Node;
use super::state::State;
use crate::client::{Quorum, Replica};
use model::{SignedDuration, Timestamp};
use std::collections::BTreeSet;

/// A record without content is written this often, so that voters that are
/// away are seen to fall behind.
const HEARTBEAT_MS: i128 = 500;

#[derive(Default)]
pub(super) struct Voting {
    pub voters: BTreeSet<i32>,
    pub leader: Option<i32>,
    pub epoch: i32,
    pub elected_at: Option<Timestamp>,
    pub election_due: Option<Timestamp>,
    /// The active controller has heard from no majority since.
    pub alone_since: Option<Timestamp>,
    /// Records in the metadata log.
    pub end: i64,
    /// Until when records without content are counted.
    pub beaten: Option<Timestamp>,
    /// A controller became active that did not have everything.
    pub lost: bool,
    /// Until then a change of voters is under way.
    pub changing_until: Option<Timestamp>,
}

impl State {
    pub(super) fn has_majority(&self) -> bool {
        let voting = self.voters().filter(|node| node.votes()).count();
        !self.voting.voters.is_empty() && voting * 2 > self.voting.voters.len()
    }

    fn voters(&self) -> impl Iterator<Item = &Node> {
        self.voting.voters.iter().filter_map(|id| self.nodes.get(id))
    }

    /// Whether the metadata can change: there is an active controller, and a
    /// majority has everything that it has.
    pub(super) fn is_led(&self) -> bool {
        let caught_up = |node: &Node| node.joins_at.is_none_or(|at| at <= self.now);
        let follows = |node: &&Node| node.votes() && caught_up(node);
        let following = self.voters().filter(follows).count();
        self.voting.leader.is_some() && following * 2 > self.voting.voters.len()
    }

    /// Whether a server finds the quorum: it votes, or knows a controller that does.
    pub(super) fn is_attached(&self, node: &Node) -> bool {
        let votes = |id: &i32| {
            self.voting.voters.contains(id) && self.nodes.get(id).is_some_and(Node::votes)
        };
        let is_voter = self.voting.voters.contains(&node.spec.id);
        is_voter || node.bootstrap.as_ref().is_none_or(|all| all.iter().any(votes))
    }

    /// Elects, deposes or waits. Whether anything changed.
    pub(super) fn advance_quorum(&mut self) -> bool {
        let majority = self.has_majority();
        let now = self.now;
        let Some(leader) = self.voting.leader else { return self.elect_when_due(majority) };
        if !self.nodes.get(&leader).is_some_and(Node::votes) {
            self.voting.leader = None;
            self.voting.election_due.get_or_insert(now + self.timing.election);
            return true;
        }
        if majority {
            self.voting.alone_since = None;
            return false;
        }
        let since = *self.voting.alone_since.get_or_insert(now);
        if now < since + self.timing.alone {
            return false;
        }
        self.voting.leader = None;
        self.voting.alone_since = None;
        true
    }

    fn elect_when_due(&mut self, majority: bool) -> bool {
        if !majority {
            self.voting.election_due = None;
            return false;
        }
        let due = *self.voting.election_due.get_or_insert(self.now + self.timing.election);
        if self.now < due {
            return false;
        }
        self.elect();
        true
    }

    /// One of those who have most becomes active.
    fn elect(&mut self) {
        let most = self.voters().filter(|node| node.votes()).map(|node| node.end).max();
        let able = |node: &&Node| node.votes() && Some(node.end) == most;
        let candidates: Vec<i32> = self.voters().filter(able).map(|node| node.spec.id).collect();
        let leader = candidates[self.roll(candidates.len())];
        self.voting.lost |= most < Some(self.voting.end);
        self.voting.leader = Some(leader);
        self.voting.epoch += 1;
        self.voting.elected_at = Some(self.now);
        self.voting.election_due = None;
        self.voting.beaten = Some(self.now);
        // It has everything that counts, whatever it missed.
        self.nodes.get_mut(&leader).expect("it votes").joins_at = None;
    }

    /// The log grows, and who follows it has it.
    pub(super) fn beat(&mut self) {
        let now = self.now;
        if self.is_led() {
            let since = self.voting.beaten.unwrap_or(now);
            let beats = now.duration_since(since).as_millis() / HEARTBEAT_MS;
            let beats = i64::try_from(beats).unwrap_or_default();
            self.voting.end += beats;
            self.voting.beaten = Some(since + SignedDuration::from_millis(beats * 500));
        }
        let (end, led) = (self.voting.end, self.voting.leader.is_some());
        let lost = self.nodes.values().filter(|node| !self.is_attached(node));
        let lost: BTreeSet<i32> = lost.map(|node| node.spec.id).collect();
        for node in self.nodes.values_mut() {
            let follows = (node.votes() || node.works()) && !lost.contains(&node.spec.id);
            if led && follows && node.joins_at.is_none_or(|at| at <= now) {
                (node.end, node.caught_up, node.joins_at) = (end, now, None);
            }
        }
    }

    pub(super) fn describe_quorum(&self) -> Quorum {
        let replica = |node: &Node| Replica {
            id: node.spec.id,
            directory: Some(node.directory),
            log_end_offset: Some(node.end),
            last_fetch: Some(node.caught_up),
            last_caught_up: Some(node.caught_up),
        };
        let observes = |node: &&Node| {
            let is_there = node.works() || node.votes();
            is_there && !self.voting.voters.contains(&node.spec.id) && self.is_attached(node)
        };
        Quorum {
            leader: self.voting.leader,
            leader_epoch: self.voting.epoch,
            high_watermark: self.voting.end,
            voters: self.voters().map(replica).collect(),
            observers: self.nodes.values().filter(observes).map(replica).collect(),
        }
    }
}
