//! What operators and faults do to a simulated cluster.

use super::node::{Node, Process, SimNode};
use super::record::SimRecord;
use super::state::State;
use super::{Fault, SimKafka};
use crate::Endpoint;
use crate::client::Error;
use model::SignedDuration;
use std::collections::BTreeSet;
use uuid::Uuid;

impl SimKafka {
    /// A server with an empty disk, not started.
    pub fn add_node(&self, node: SimNode) {
        let mut state = self.state();
        let now = state.now;
        state.nodes.entry(node.id).or_insert_with(|| Node::new(node, now));
    }

    /// As Kafka before 4.0 does: a partition whose replicas in sync are gone waits for the last
    /// of them.
    #[must_use]
    pub fn without_elr(self) -> Self {
        self.state().change().has_elr = false;
        self
    }

    pub fn set_rack(&self, id: i32, rack: &str) {
        self.with(id, |state, id| state.node(id).rack = Some(rack.to_owned()));
    }

    /// Its disk has so many bytes, which it also tells.
    pub fn set_disk(&self, id: i32, bytes: u64) {
        self.with(id, |state, id| state.node(id).disk_bytes = Some(bytes));
    }

    /// The id that its log directory was formatted with.
    pub fn set_directory(&self, id: i32, directory: Uuid) {
        self.with(id, |state, id| state.node(id).directory = directory);
    }

    /// The controllers that its configuration names. Once it is no voter, it needs one of them
    /// that is: otherwise it hears of nothing, and its broker is fenced.
    pub fn set_bootstrap(&self, id: i32, controllers: &BTreeSet<i32>) {
        self.with(id, |state, id| state.node(id).bootstrap = Some(controllers.clone()));
    }

    /// So many bytes were written to a partition, and acknowledged. They take time to copy.
    pub fn fill(&self, topic: &str, partition: usize, bytes: u64) {
        let mut state = self.state();
        let metadata = state.metadata.clone();
        let of = &metadata.topics[topic].partitions[partition];
        let copies = state.copies.entry((topic.to_owned(), partition)).or_default();
        copies.acknowledged_bulk += bytes;
        for id in &of.in_sync {
            *copies.bulk.entry(*id).or_default() += bytes;
        }
        state.settle();
    }

    /// Formatting with initial controllers. The quorum is founded once; later
    /// calls change nothing.
    pub fn found(&self, voters: &BTreeSet<i32>) {
        let mut state = self.state();
        if state.voting.voters.is_empty() {
            state.voting.voters.clone_from(voters);
        }
    }

    pub fn start(&self, id: i32) {
        self.with(id, |state, id| {
            let (now, timing) = (state.now, state.timing);
            let node = state.nodes.get_mut(&id).expect("it was looked up");
            if node.process == Process::Down {
                (node.process, node.due) = (Process::Starting, Some(now + timing.start));
                (node.frozen, node.drained, node.has_producers) = (false, false, false);
            }
        });
    }

    /// Asks it to end: SIGTERM.
    pub fn stop(&self, id: i32) {
        self.with(id, |state, id| {
            let (now, timing) = (state.now, state.timing);
            let node = state.nodes.get_mut(&id).expect("it was looked up");
            match node.process {
                Process::Down | Process::Stopping => {}
                Process::Running if node.is_broker() => {
                    (node.process, node.due) = (Process::Stopping, Some(now + timing.lonely_stop));
                }
                // It has nothing to hand over.
                _ => {
                    (node.process, node.due) = (Process::Stopping, Some(now + timing.stop));
                    node.drained = true;
                }
            }
        });
    }

    /// Ends it where it is: SIGKILL, or a power cut.
    pub fn kill(&self, id: i32) {
        self.with(id, |state, id| {
            let node = state.nodes.get_mut(&id).expect("it was looked up");
            node.clean &= !matches!(node.process, Process::Running | Process::Stopping);
            (node.process, node.due, node.drained) = (Process::Down, None, false);
        });
    }

    /// Has it stand still: SIGSTOP.
    pub fn freeze(&self, id: i32) {
        self.with(id, |state, id| state.node(id).frozen = true);
    }

    /// Lets it go on: SIGCONT.
    pub fn thaw(&self, id: i32) {
        self.with(id, |state, id| state.node(id).frozen = false);
    }

    /// Its replicas don't copy, though it lives.
    pub fn stall_replicas(&self, id: i32, stalled: bool) {
        self.with(id, |state, id| state.node(id).fetches = !stalled);
    }

    /// It tells what it knew, whatever happens meanwhile.
    pub fn hold_view(&self, id: i32, time: SignedDuration) {
        self.with(id, |state, id| {
            let until = state.now + time;
            state.node(id).hold(until);
        });
    }

    /// The disk is gone and an empty one is in its place. The server must be
    /// down.
    pub fn lose_disk(&self, id: i32) {
        self.with(id, |state, id| {
            let node = state.node(id);
            assert_eq!(node.process, Process::Down, "a disk is lost under a server that is down");
            (node.end, node.clean) = (0, true);
            for copies in state.copies.values_mut() {
                copies.delete(id);
            }
        });
    }

    /// The next calls go wrong, one after another.
    pub fn fail_next(&self, fault: Fault, times: usize) {
        self.state().faults.extend(std::iter::repeat_n(Some(fault), times));
    }

    /// So many calls go right, and the one after them goes wrong.
    pub fn fail_after(&self, calls: usize, fault: Fault) {
        let right = std::iter::repeat_n(None, calls);
        self.state().faults.extend(right.chain([Some(fault)]));
    }

    /// Nobody may have a producer.
    pub fn deny_producers(&self) {
        self.state().denies_producers = true;
    }

    /// Nothing goes wrong any more.
    pub fn forget_faults(&self) {
        let mut state = self.state();
        state.faults.clear();
        for node in state.nodes.values_mut() {
            (node.frozen, node.fetches) = (false, true);
        }
        state.settle();
    }

    /// Writes a record as a producer with acks=all. The number it has if it is
    /// acknowledged; it may be there even if not.
    pub fn produce(&self, at: &Endpoint, topic: &str, partition: usize) -> Result<u64, Error> {
        let mut state = self.state();
        let broker = state.reach(at, "Produce")?;
        let record = SimRecord::plain(state.now);
        state.write(broker, topic, partition, record)
    }

    fn with(&self, id: i32, change: impl FnOnce(&mut State, i32)) {
        let mut state = self.state();
        assert!(state.nodes.contains_key(&id), "there is no node {id}");
        change(&mut state, id);
        state.settle();
    }
}

impl State {
    fn node(&mut self, id: i32) -> &mut Node {
        self.nodes.get_mut(&id).expect("it was looked up")
    }
}
