//! A cluster whose number of servers changes: what was asked, which servers join and leave,
//! where replicas are and who votes.

use super::rows::{action, node, voter};
use super::{Cluster, now};
use crate::plan::sizing;
use crate::world::{Placed, ServerView, World};
use kafka::client::{
    OwnWords, PartitionView, PlacedBroker, PlacedPartition, PlacedTopic, PlacementView, Quorum,
    TopicReplication,
};
use kafka::safety::Look;
use model::*;
use reach::{Ours, for_mover};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

const GB: u64 = 1_000_000_000;

/// What Kafka says, if it was asked.
#[derive(Default)]
pub struct Kafka {
    is_asked: bool,
    topics: Vec<PlacedTopic>,
    voters: Vec<i32>,
    /// No controller is active.
    is_leaderless: bool,
    /// Controllers that lack metadata.
    lagging: BTreeSet<i32>,
    /// Brokers that are not registered, or not let serve.
    unregistered: BTreeSet<i32>,
    fenced: BTreeSet<i32>,
    /// Whatever their agents last reported.
    serving: BTreeSet<i32>,
    cordoned: BTreeSet<i32>,
    throttled: BTreeSet<i32>,
    /// Bytes per second that copies shall take.
    rate: Option<u64>,
}

impl Kafka {
    pub fn placed(&self, world: &World) -> Option<Arc<Placed>> {
        if !self.is_asked {
            return None;
        }
        let nodes: Vec<i32> = world.servers.iter().map(|view| view.server.node_id).collect();
        let broker = |id: &i32| {
            let view = world.servers.iter().find(|view| view.server.node_id == *id);
            let is_up = view.is_some_and(ServerView::is_up);
            let own = OwnWords {
                total_bytes: Some(100 * GB),
                usable_bytes: Some(90 * GB),
                throttle: self.throttled.contains(id).then_some(1000),
                is_cordoned: self.cordoned.contains(id),
                ..OwnWords::default()
            };
            PlacedBroker {
                id: *id,
                rack: None,
                is_registered: !self.unregistered.contains(id),
                is_fenced: !is_up && !self.serving.contains(id) || self.fenced.contains(id),
                own: is_up.then_some(own),
            }
        };
        let brokers = nodes.iter().map(broker).collect();
        let view = PlacementView { brokers, topics: self.topics.clone() };
        let leaving = world.servers.iter().filter(|view| view.server.is_leaving());
        let leaving = leaving.map(|view| view.server.node_id).collect();
        let ours = Ours { leaving, disk_bytes: BTreeMap::new() };
        let cluster = for_mover(&view, &nodes.into_iter().collect(), &ours);
        Placed::new(world, view, cluster, self.quorum(world), self.rate.unwrap_or(1000))
            .map(Arc::new)
    }

    /// What brokers say of the same replicas.
    pub fn look(&self, world: &World, no_reply: &BTreeSet<i32>) -> Option<Look> {
        if !self.is_asked {
            return None;
        }
        let partition = |it: &PlacedPartition| PartitionView {
            index: it.index,
            leader: it.leader,
            replicas: it.replicas.clone(),
            in_sync: it.in_sync.clone(),
        };
        let topic = |it: &PlacedTopic| TopicReplication {
            name: it.name.clone(),
            min_in_sync: it.min_in_sync,
            partitions: it.partitions.iter().map(partition).collect(),
        };
        let topics: Vec<TopicReplication> = self.topics.iter().map(topic).collect();
        let up = world.servers.iter().filter(|view| view.is_up()).map(|view| view.server.node_id);
        let answer = up.filter(|node| !no_reply.contains(node));
        Some(Look {
            quorum: self.quorum(world),
            views: answer.map(|node| (node, topics.clone())).collect(),
            no_reply: no_reply.clone(),
        })
    }

    fn quorum(&self, world: &World) -> Quorum {
        let replica = |view: &ServerView| {
            let mut replica = voter(view);
            if self.lagging.contains(&replica.id) {
                replica.last_caught_up = Some(now() - SignedDuration::from_mins(1));
            }
            replica
        };
        let controllers = world.servers.iter().filter(|view| view.server.is_controller());
        let (voters, observers) =
            controllers.map(replica).partition(|replica| self.voters.contains(&replica.id));
        Quorum {
            leader: self.voters.first().copied().filter(|_| !self.is_leaderless),
            leader_epoch: 1,
            high_watermark: 9,
            voters,
            observers,
        }
    }
}

/// What was asked.
impl Cluster {
    /// Of all servers, the last are new.
    pub fn grows(self, from: u32) -> Self {
        let (from, to) = (from, u32::try_from(self.world.servers.len()).unwrap());
        self.resized(from, to, Membership::Joining)
    }

    pub fn shrinks(self, to: u32) -> Self {
        let from = u32::try_from(self.world.servers.len()).unwrap();
        self.resized(from, to, Membership::Leaving)
    }

    pub fn rebalances(self) -> Self {
        let servers = u32::try_from(self.world.servers.len()).unwrap();
        self.resized(servers, servers, Membership::Member)
    }

    fn resized(self, from: u32, to: u32, changing: Membership) -> Self {
        let mut cluster = self.asked();
        cluster.world.instance.nodes = to;
        for view in &mut cluster.world.servers {
            if view.server.number > from.min(to) {
                view.server.membership = changing;
            }
        }
        cluster.world.actions.push(action(ActionKind::Resize, &[]));
        let resize = Resize::new(InstanceId(1), ActionId(1), from, to);
        cluster.world.resize = Some(Resize { accept_single_copy: true, ..resize });
        cluster
    }

    /// As the use case does.
    pub fn undone(self) -> Self {
        let mut cluster = self.cancelled();
        let resize = cluster.world.resize.as_mut().unwrap();
        resize.undo = true;
        cluster.world.instance.nodes = resize.from;
        for view in &mut cluster.world.servers {
            if view.server.membership != Membership::Member {
                view.server.membership = view.server.membership.undo();
            }
        }
        cluster
    }

    pub fn remembers(mut self, change: impl FnOnce(&mut ResizeMemory)) -> Self {
        change(&mut self.world.resize.as_mut().unwrap().memory);
        self
    }

    /// Restarted for as many servers as there are to be.
    pub fn restarted(self) -> Self {
        let aim = self.world.resize.as_ref().unwrap().aim();
        self.remembers(|memory| memory.rendered_for = Some(aim))
    }

    /// The cluster's min ISR is as it is to be.
    pub fn min_isr_set(self) -> Self {
        let resize = self.world.resize.as_ref().unwrap();
        let wanted = sizing::min_isr(&self.world.instance, resize.aim());
        self.remembers(|memory| memory.min_isr = Some(wanted))
    }

    /// What is set for all brokers is what held before.
    pub fn min_isr_held(self) -> Self {
        let resize = self.world.resize.as_ref().unwrap();
        let before = sizing::min_isr(&self.world.instance, resize.from);
        self.remembers(|memory| memory.min_isr = Some(before))
    }

    pub fn removing(mut self) -> Self {
        self.world.resize.as_mut().unwrap().removing = true;
        self
    }

    /// The brokers of leaving servers shall not run any more.
    pub fn told_to_leave(self) -> Self {
        let leaving = self.world.servers.iter().filter(|view| view.server.is_leaving());
        let leaving: Vec<u32> = leaving.map(|view| view.server.number).collect();
        self.removing()
            .each(&leaving, |view| view.server.wanted = view.server.wanted.stop().unwrap())
    }

    /// Added an hour ago.
    pub fn asked_long_ago(mut self) -> Self {
        self.world.actions[0].asked_at = now() - SignedDuration::from_hours(1);
        self
    }
}

/// What Kafka says.
impl Cluster {
    /// Kafka was asked where replicas are. These controllers vote, the first is active.
    pub fn voters(mut self, numbers: &[u32]) -> Self {
        self.kafka.is_asked = true;
        self.kafka.voters = numbers.iter().map(|number| node(*number)).collect();
        self
    }

    /// A topic of one partition that is on these servers, in sync on all of them, and led by
    /// the first.
    pub fn topic(mut self, name: &str, min_isr: usize, on: &[u32]) -> Self {
        let replicas: Vec<i32> = on.iter().map(|number| node(*number)).collect();
        let partition = PlacedPartition {
            index: 0,
            leader: replicas.first().copied(),
            in_sync: replicas.clone(),
            replicas,
            bytes: 1000,
            ..PlacedPartition::default()
        };
        self.kafka.topics.push(PlacedTopic {
            name: name.into(),
            min_in_sync: min_isr,
            partitions: vec![partition],
            ..PlacedTopic::default()
        });
        self
    }

    /// The topic that was named last has its min ISR by a setting of its own.
    pub fn own_min_isr(mut self) -> Self {
        self.kafka.topics.last_mut().unwrap().has_own_min_in_sync = true;
        self
    }

    /// Of the topic that was named last.
    pub fn but(mut self, change: impl FnOnce(&mut PlacedPartition)) -> Self {
        change(&mut self.kafka.topics.last_mut().unwrap().partitions[0]);
        self
    }

    pub fn no_controller_active(mut self) -> Self {
        self.kafka.is_leaderless = true;
        self
    }

    pub fn controller_lags(mut self, number: u32) -> Self {
        self.kafka.lagging.insert(node(number));
        self
    }

    pub fn unregistered(mut self, number: u32) -> Self {
        self.kafka.unregistered.insert(node(number));
        self
    }

    pub fn fenced(mut self, number: u32) -> Self {
        self.kafka.fenced.insert(node(number));
        self
    }

    /// Though its agent said otherwise before it died.
    pub fn still_serves(mut self, number: u32) -> Self {
        self.kafka.serving.insert(node(number));
        self
    }

    pub fn cordoned(mut self, numbers: &[u32]) -> Self {
        self.kafka.cordoned.extend(numbers.iter().map(|number| node(*number)));
        self
    }

    pub fn shall_copy_at(mut self, rate: u64) -> Self {
        self.kafka.rate = Some(rate);
        self
    }

    pub fn throttled(mut self, number: u32) -> Self {
        self.kafka.throttled.insert(node(number));
        self
    }
}
