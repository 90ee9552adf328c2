//! Where all replicas are and who votes, read at one moment of a pass, with what the mover
//! makes of it.

mod leftovers;

use super::{ServerView, World};
use crate::plan::sizing;
use kafka::placement::PlacementView;
use kafka::quorum::{Quorum, Replica};
use model::SignedDuration;
use mover::{Aim, Cluster, Limits, MovePlan, Next};
use std::collections::BTreeMap;
use std::time::Duration;

/// A controller that had everything so long before the leader, or less, has caught up.
const CAUGHT_UP: SignedDuration = SignedDuration::from_secs(3);

/// A batch takes about so long, so that a cancel is soon followed.
const BATCH: Duration = Duration::from_secs(30);

#[derive(Clone, Debug)]
pub struct Placed {
    pub view: PlacementView,
    pub quorum: Quorum,
    pub cluster: Cluster,
    pub aim: Aim,
    pub plan: MovePlan,
    pub next: Next,
    /// Bytes per second of each broker that copies are to take from now on.
    pub rate: u64,
}

impl World {
    /// What there is of each disk now, by node id: one that is to grow has no more room yet.
    pub(crate) fn disk_bytes(&self) -> BTreeMap<i32, u64> {
        let bytes =
            |view: &ServerView| Some((view.server.node_id, view.disk.as_ref()?.made_bytes()));
        self.servers.iter().filter_map(bytes).collect()
    }
}

impl Placed {
    /// None unless the number of servers changes, or the cluster is rebalanced.
    pub fn new(
        world: &World,
        view: PlacementView,
        cluster: Cluster,
        quorum: Quorum,
        rate: u64,
    ) -> Option<Self> {
        let aim = sizing::aim(world.resize.as_ref()?);
        let plan = mover::plan(&cluster, &aim);
        let limits = Limits::default().lasting(BATCH, rate);
        let next = mover::next_of_plan(&cluster, &aim, &plan, &limits);
        Some(Self { view, quorum, cluster, aim, plan, next, rate })
    }

    /// Whether servers leave or stay as they did when this was read.
    pub fn is_of(&self, world: &World) -> bool {
        let leaves = |node: i32| self.cluster.broker(node).map(|broker| broker.is_leaving);
        let mut servers = world.servers.iter().map(|view| &view.server);
        let is_same = servers.all(|server| {
            leaves(server.node_id).is_none_or(|leaves| leaves == server.is_leaving())
        });
        is_same && world.resize.as_ref().is_some_and(|resize| sizing::aim(resize) == self.aim)
    }

    /// Whether the controllers let it serve, as far as they tell.
    pub fn serves(&self, node: i32) -> bool {
        self.view.broker(node).is_some_and(|broker| broker.is_registered && !broker.is_fenced)
    }

    /// Bytes per second of the brokers that copy under a throttle now.
    pub fn throttle(&self) -> Option<u64> {
        throttle(&self.view)
    }

    pub fn is_moving(&self) -> bool {
        self.cluster.partitions.iter().any(|partition| partition.reassignment.is_some())
    }

    /// Partitions whose replicas move, or are still to.
    pub fn partitions_left(&self) -> usize {
        let moving = self.cluster.partitions.iter().filter(|it| it.reassignment.is_some());
        moving.count() + self.plan.moves.len()
    }

    /// It serves, and answered us.
    pub fn is_up(&self, node: i32) -> bool {
        self.cluster.is_up(node)
    }

    /// Whether it holds no replica, gets none, and has no vote.
    pub fn is_empty(&self, node: i32) -> bool {
        self.view.on(node).next().is_none() && !self.votes(node)
    }

    pub fn votes(&self, node: i32) -> bool {
        self.quorum.voters.iter().any(|voter| voter.id == node)
    }

    /// Whether its controller, which votes or only listens, has all metadata and is up.
    pub fn has_all_metadata(&self, node: i32) -> bool {
        let Some(leader) = self.quorum.leader else { return false };
        let all = || self.quorum.voters.iter().chain(&self.quorum.observers);
        let caught_up = |id: i32| all().find(|it| it.id == id).and_then(last_caught_up);
        let behind = caught_up(leader).zip(caught_up(node));
        let is_near = behind.is_some_and(|(now, at)| now.duration_since(at) <= CAUGHT_UP);
        self.is_up(node) && (node == leader || is_near)
    }
}

/// Of brokers that can be told another.
pub fn throttle(view: &PlacementView) -> Option<u64> {
    let up = view.brokers.iter().filter(|broker| broker.is_up());
    up.filter_map(|broker| broker.own.as_ref()?.throttle).max()
}

fn last_caught_up(replica: &Replica) -> Option<model::Timestamp> {
    replica.last_caught_up
}
