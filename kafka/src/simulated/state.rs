//! A simulated cluster and the rules by which it goes on: whatever is due by
//! the clock happens, in the order of time, and nothing else.

use super::Fault;
use super::copies::Copies;
use super::groups::SimGroup;
use super::metadata::{Metadata, Registration};
use super::node::{Node, Process};
use super::quorum::Voting;
use super::record::SimRecord;
use super::timing::Timing;
use model::{Entropy, SeededEntropy, Timestamp};
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

pub(super) struct State {
    pub now: Timestamp,
    pub timing: Timing,
    pub dice: SeededEntropy,
    pub nodes: BTreeMap<i32, Node>,
    pub voting: Voting,
    /// As the active controller has it.
    pub metadata: Arc<Metadata>,
    changed: bool,
    /// By topic and number.
    pub copies: BTreeMap<(String, usize), Copies>,
    /// Of the next calls; none of one that goes right.
    pub faults: VecDeque<Option<Fault>>,
    pub calls: usize,
    pub writes: u64,
    /// How many were made.
    pub producers: i64,
    pub denies_producers: bool,
    /// What each write was.
    pub records: BTreeMap<u64, SimRecord>,
    /// By name.
    pub groups: BTreeMap<String, SimGroup>,
}

impl State {
    pub fn new(now: Timestamp, seed: u64, timing: Timing) -> Self {
        Self {
            now,
            timing,
            dice: SeededEntropy::new(seed),
            nodes: BTreeMap::new(),
            voting: Voting::default(),
            metadata: Arc::new(Metadata { has_elr: true, ..Metadata::default() }),
            changed: false,
            copies: BTreeMap::new(),
            faults: VecDeque::new(),
            calls: 0,
            writes: 0,
            producers: 0,
            denies_producers: false,
            records: BTreeMap::new(),
            groups: BTreeMap::new(),
        }
    }

    /// A number below `sides`.
    pub fn roll(&self, sides: usize) -> usize {
        let mut bytes = [0; 4];
        self.dice.fill(&mut bytes);
        usize::try_from(u32::from_le_bytes(bytes)).expect("usize has 32 bits or more") % sides
    }

    /// For the active controller to change. A majority has it at once, also
    /// if the controller goes in the next moment.
    pub fn change(&mut self) -> &mut Metadata {
        self.changed = true;
        self.voting.end += 1;
        self.beat();
        Arc::make_mut(&mut self.metadata)
    }

    /// Everything that is due until then happens.
    pub fn run_to(&mut self, now: Timestamp) {
        loop {
            self.settle();
            let Some(due) = self.next_due().filter(|due| *due <= now) else { break };
            self.now = due;
            self.beat();
        }
        self.now = self.now.max(now);
        self.beat();
        self.settle();
    }

    /// Everything that follows from what is happens.
    pub fn settle(&mut self) {
        loop {
            let mut went_on = self.advance_quorum();
            went_on |= self.advance_processes();
            went_on |= self.advance_sessions();
            went_on |= self.advance_replicas();
            went_on |= self.advance_reassignments();
            if !went_on {
                break;
            }
        }
        if std::mem::take(&mut self.changed) {
            let at = self.now + self.timing.spread;
            for node in self.nodes.values_mut() {
                node.send(at, &self.metadata);
            }
        }
    }

    fn next_due(&self) -> Option<Timestamp> {
        let nodes = self.nodes.values().filter(|node| !node.frozen).filter_map(|node| node.due);
        let joins = self.nodes.values().filter_map(|node| node.joins_at);
        let silent = self.nodes.values().filter_map(|node| self.fenced_at(node));
        let alone = self.voting.alone_since.map(|since| since + self.timing.alone);
        let joining = self.copies.values().flat_map(|copies| copies.joining.values());
        let joining = joining.filter_map(|it| it.next);
        let lagging = self.copies.values().flat_map(|copies| copies.lagging.values());
        let lagging = lagging.map(|since| *since + self.timing.lag);
        let all = nodes.chain(joins).chain(silent).chain(alone).chain(joining).chain(lagging);
        all.chain(self.voting.election_due).filter(|due| *due > self.now).min()
    }

    fn advance_processes(&mut self) -> bool {
        let ids: Vec<i32> = self.nodes.keys().copied().collect();
        // Every one of them has its turn, whoever went on before.
        ids.into_iter().filter(|id| self.advance_process(*id)).count() > 0
    }

    fn advance_process(&mut self, id: i32) -> bool {
        let (now, timing) = (self.now, self.timing);
        let led = self.is_led();
        let may_join = self.may_join(id);
        let node = self.nodes.get_mut(&id).expect("it is one of them");
        if node.frozen {
            return false;
        }
        let due = node.due.is_some_and(|due| due <= now);
        match node.process {
            Process::Starting if due => {
                let recovers = !node.clean && node.is_broker();
                node.process = if recovers { Process::Recovering } else { Process::Waiting };
                node.due = recovers.then(|| now + timing.recovery);
                node.joins_at = Some(now + timing.catch_up);
            }
            Process::Recovering if due => (node.process, node.due) = (Process::Waiting, None),
            Process::Waiting if !node.is_broker() => node.process = Process::Running,
            Process::Waiting if led && may_join => self.join(id),
            Process::Stopping if led && !node.drained => {
                (node.drained, node.due) = (true, Some(now + timing.stop));
                self.drain(id);
            }
            Process::Stopping if due => self.end(id),
            _ => return false,
        }
        true
    }

    /// A broker is let in when the controller no longer waits for an earlier
    /// process of the same id.
    fn may_join(&self, id: i32) -> bool {
        let earlier = self.metadata.brokers.get(&id);
        earlier.is_none_or(|earlier| earlier.fenced || earlier.stopping)
            && self.is_attached(&self.nodes[&id])
    }

    fn join(&mut self, id: i32) {
        let was_orderly = self.nodes[&id].clean;
        let metadata = self.change();
        metadata.brokers.insert(id, Registration::default());
        if !was_orderly {
            metadata.each(|partition, _| partition.distrust(id));
        }
        metadata.welcome();
        let metadata = self.metadata.clone();
        let node = self.nodes.get_mut(&id).expect("it is one of them");
        (node.process, node.clean, node.silent_since) = (Process::Running, false, None);
        node.sees_all(&metadata);
    }

    /// The controller moves what a broker leads, and knows that it will go.
    fn drain(&mut self, id: i32) {
        if self.metadata.brokers.contains_key(&id) {
            let metadata = self.change();
            metadata.brokers.insert(id, Registration { fenced: false, stopping: true });
            metadata.retire(id);
        }
    }

    /// The process ends as it was asked to.
    fn end(&mut self, id: i32) {
        let (now, handover) = (self.now, self.timing.handover);
        let node = self.nodes.get_mut(&id).expect("it is one of them");
        (node.process, node.due, node.clean) = (Process::Down, None, true);
        let drained = std::mem::take(&mut node.drained);
        if drained && self.is_led() && self.metadata.brokers.contains_key(&id) {
            let metadata = self.change();
            metadata.brokers.insert(id, Registration { fenced: true, stopping: false });
        }
        if self.voting.leader == Some(id) {
            self.voting.leader = None;
            self.voting.election_due = Some(now + handover);
        }
    }
}
