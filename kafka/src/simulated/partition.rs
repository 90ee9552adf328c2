//! One partition as the controllers of a simulated cluster have it: who leads it, who is in
//! sync, and who may lead it when none of those is there.
//!
//! A release with eligible leader replicas (ELR) takes the last replica out of the ISR too, and
//! then elects from the ELR. With each change of a partition Kafka 4.3 clears the ELR if as many
//! are in sync as min ISR says, or as there were replicas **before** the change; a broker that
//! leaves the ISR otherwise becomes eligible, also one that is no replica any more. So does this.

use crate::client::{PartitionView, PlacedPartition};

/// What the controllers go by.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rules {
    pub min_in_sync: usize,
    pub has_elr: bool,
}

#[derive(Clone, Default, Debug)]
pub(super) struct Partition {
    pub leader: Option<i32>,
    pub replicas: Vec<i32>,
    pub in_sync: Vec<i32>,
    pub elr: Vec<i32>,
    /// Of the reassignment under way; both are among the replicas.
    pub adding: Vec<i32>,
    pub removing: Vec<i32>,
}

impl Partition {
    /// Whole, led by the first of these.
    pub fn new(replicas: Vec<i32>) -> Self {
        let (leader, in_sync) = (replicas.first().copied(), replicas.clone());
        Self { leader, replicas, in_sync, ..Self::default() }
    }

    pub fn view(&self, index: usize) -> PartitionView {
        PartitionView {
            index: number(index),
            leader: self.leader,
            replicas: self.replicas.clone(),
            in_sync: self.in_sync.clone(),
        }
    }

    /// Without size and reassignment.
    pub fn placed(&self, index: usize) -> PlacedPartition {
        PlacedPartition {
            index: number(index),
            leader: self.leader,
            replicas: self.replicas.clone(),
            in_sync: self.in_sync.clone(),
            elr: self.elr.clone(),
            ..PlacedPartition::default()
        }
    }

    pub fn is_reassigned(&self) -> bool {
        !self.adding.is_empty() || !self.removing.is_empty()
    }

    /// These are in sync from now on. Without ELR the last one stays.
    pub fn set_in_sync(&mut self, in_sync: Vec<i32>, rules: Rules) {
        if rules.has_elr || !in_sync.is_empty() {
            self.note_in_sync(in_sync, self.replicas.len(), rules);
        }
    }

    /// The same, where there were so many replicas before.
    fn note_in_sync(&mut self, in_sync: Vec<i32>, replicas_before: usize, rules: Rules) {
        let before = std::mem::replace(&mut self.in_sync, in_sync);
        if !rules.has_elr || self.in_sync.len() >= rules.min_in_sync.min(replicas_before) {
            self.elr.clear();
            return;
        }
        for replica in before {
            if !self.elr.contains(&replica) {
                self.elr.push(replica);
            }
        }
        let in_sync = &self.in_sync;
        self.elr.retain(|replica| !in_sync.contains(replica));
    }

    /// A broker is in sync no longer.
    pub fn leave(&mut self, broker: i32, rules: Rules) {
        if self.in_sync.contains(&broker) {
            self.set_in_sync(without(&self.in_sync, &[broker]), rules);
        }
    }

    /// Finds another leader, if the one that it has can't lead.
    pub fn elect(&mut self, is_active: impl Fn(i32) -> bool) {
        let leads = |id: &i32| self.in_sync.contains(id) && is_active(*id);
        if self.leader.as_ref().is_some_and(leads) {
            return;
        }
        self.leader = self.replicas.iter().copied().find(leads);
        if self.leader.is_some() || !self.in_sync.is_empty() {
            return;
        }
        let may_lead = |id: &i32| self.elr.contains(id) && is_active(*id);
        self.leader = self.replicas.iter().copied().find(may_lead);
        if let Some(leader) = self.leader {
            self.in_sync = vec![leader];
            self.elr.retain(|id| *id != leader);
        }
    }

    /// A broker is back after an end that was not orderly: what it had in memory may be lost, so
    /// it leads nothing from the ELR, unless it is the last that is known to have led.
    pub fn distrust(&mut self, broker: i32) {
        let is_last = self.in_sync.is_empty() && self.elr == [broker];
        if !is_last {
            self.elr.retain(|id| *id != broker);
        }
    }

    /// Nothing is known of that broker any more. Its replicas stay listed.
    pub fn forget(&mut self, broker: i32) {
        self.in_sync.retain(|id| *id != broker);
        self.elr.retain(|id| *id != broker);
    }

    /// Begins to make the replicas these. If one is under way that has added others, Kafka waits
    /// for those before it drops them; no test asks for that, and the simulation drops them at once.
    pub fn reassign(&mut self, to: &[i32], rules: Rules) {
        let original = without(&self.replicas, &self.adding);
        self.adding = without(to, &original);
        self.removing = without(&original, to);
        self.set_replicas([to, &self.removing].concat(), rules);
    }

    /// Goes back to the replicas from before.
    pub fn cancel(&mut self, rules: Rules) {
        let original = without(&self.replicas, &self.adding);
        (self.adding, self.removing) = (vec![], vec![]);
        self.set_replicas(original, rules);
    }

    /// Whether everything that is added is in sync, so that the rest can go.
    pub fn is_complete(&self) -> bool {
        let stays = without(&self.in_sync, &self.removing);
        let all = self.adding.iter().all(|id| self.in_sync.contains(id));
        self.is_reassigned() && all && !stays.is_empty()
    }

    pub fn complete(&mut self, rules: Rules) {
        let left = without(&self.replicas, &self.removing);
        (self.adding, self.removing) = (vec![], vec![]);
        self.set_replicas(left, rules);
    }

    /// A broker that is no replica is not in sync. Kafka does not look whether it is eligible.
    fn set_replicas(&mut self, replicas: Vec<i32>, rules: Rules) {
        let before = std::mem::replace(&mut self.replicas, replicas).len();
        let is_replica = |id: &i32| self.replicas.contains(id);
        let left = self.in_sync.iter().copied().filter(is_replica).collect();
        self.note_in_sync(left, before, rules);
    }
}

fn without(all: &[i32], others: &[i32]) -> Vec<i32> {
    all.iter().copied().filter(|id| !others.contains(id)).collect()
}

fn number(index: usize) -> i32 {
    i32::try_from(index).expect("topics are small")
}
