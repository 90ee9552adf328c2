//! Replicas move as the mover says, and what has to be so before and after: which brokers get
//! no new ones, and throttles.

use super::{Change, LOOK_SOON, pause};
use crate::plan::{Plan, Step, Wait};
use kafka::throttle::unthrottle;
use model::condition::{FirstFew, MoveObstacle, Moving};
use model::{Condition, KafkaVersion, Reason, SignedDuration};
use mover::{Next, Obstacle, PartitionName, Refusal};

/// From here on a broker can be told to get no new replicas.
const CORDONS: KafkaVersion = KafkaVersion::new(4, 3, 0);

/// Copies that have not got on for so long are named.
const STALLED: SignedDuration = SignedDuration::from_mins(2);

/// Leaving brokers get no new replicas, and those that stay after all do. Before 4.3 Kafka
/// can't be told, and the mover looks for new replicas again.
pub(super) fn cordon(change: &Change) -> Option<Plan> {
    let is_wrong = |view: &&crate::world::ServerView| {
        let broker = change.placed.view.broker(view.server.node_id);
        let own = broker.filter(|it| it.is_up()).and_then(|broker| broker.own.as_ref());
        let is_cordoned = own.map(|own| own.is_cordoned);
        view.server.kafka_version >= CORDONS
            && is_cordoned.is_some_and(|is_cordoned| is_cordoned != view.server.is_leaving())
    };
    let wrong = change.world.servers.iter().any(|view| is_wrong(&view));
    wrong.then(|| change.act(Step::Cordon))
}

/// How many replicas topics have is saved before any is dropped.
pub(super) fn note_replicas(change: &Change) -> Option<Plan> {
    let known = &change.resize.memory.replicas;
    let lowered =
        |it: &mover::Move| it.to.len() < it.from.len() && !known.contains_key(&*it.partition.topic);
    let is_new = !change.resize.undo && change.placed.plan.moves.iter().any(lowered);
    is_new.then(|| change.act(Step::NoteReplicas))
}

pub(super) fn move_replicas(change: &Change) -> Option<Plan> {
    match &change.placed.next {
        Next::Done => None,
        Next::Wait(reasons) => Some(wait(change, reasons)),
        _ => Some(change.act(Step::Move)),
    }
}

fn wait(change: &Change, reasons: &[mover::Reason]) -> Plan {
    let is_under_way =
        |it: &&mover::Reason| matches!(it, mover::Reason::Obstacle(Obstacle::UnderWay { .. }));
    let others: Vec<MoveObstacle> = reasons
        .iter()
        .filter(|it| !is_under_way(it))
        .map(|reason| reason_of(change, reason.clone()))
        .collect();
    if others.is_empty() && change.placed.throttle().is_some_and(|it| it != change.placed.rate) {
        return change.act(Step::AdjustThrottle);
    }
    if !others.is_empty() {
        return blocked(others);
    }
    let stalled = stalled(change);
    if stalled.is_empty() {
        return pause(vec![progress(change)]);
    }
    let stalled = Reason::MoveBlocked { obstacles: FirstFew::few(stalled) };
    pause(vec![progress(change), stalled.into()])
}

/// Copies under way, once none of them has got on for a while.
fn stalled(change: &Change) -> Vec<MoveObstacle> {
    let moved_at = change.resize.progress.and_then(|it| it.moved_at);
    let still = moved_at.map(|at| change.world.now.duration_since(at)).filter(|it| *it >= STALLED);
    let Some(still) = still else { return vec![] };
    let minutes = u32::try_from(still.as_mins()).unwrap_or_default();
    let copies = change.placed.cluster.partitions.iter().filter_map(|partition| {
        let lags = |node: &&i32| !partition.in_sync.contains(node);
        let to: Vec<&i32> = partition.reassignment.as_ref()?.adding.iter().filter(lags).collect();
        let places = to.into_iter().map(|node| change.place(*node)).collect();
        Some(MoveObstacle::Stalled { partition: partition.name().to_string(), places, minutes })
    });
    copies.collect()
}

pub(super) fn blocked(obstacles: Vec<MoveObstacle>) -> Plan {
    let reason = Reason::MoveBlocked { obstacles: FirstFew::few(obstacles) };
    let conditions = vec![reason.into()];
    Plan::whole(vec![], Wait { conditions, after: LOOK_SOON * 2 })
}

pub(super) fn progress(change: &Change) -> Condition {
    let partitions = change.placed.cluster.partitions.iter();
    let known = change.resize.progress;
    let moving = Moving {
        partitions: partitions.filter(|it| it.reassignment.is_some()).count(),
        bytes_done: known.map_or(0, |it| it.bytes_done),
        bytes_left: known.map_or_else(|| change.placed.plan.bytes_left(), |it| it.bytes_left),
        ready_at: known.and_then(|it| it.ready_at),
    };
    Reason::Moving { moving }.into()
}

/// One that is left behind slows the next copies down.
pub(super) fn end_throttles(change: &Change) -> Option<Plan> {
    (!unthrottle(&change.placed.view).is_empty()).then(|| change.act(Step::EndThrottles))
}

fn reason_of(change: &Change, reason: mover::Reason) -> MoveObstacle {
    match reason {
        mover::Reason::Obstacle(it) => obstacle(change, it),
        mover::Reason::NoRoom { partition, node, bytes } => {
            let place = change.place(node);
            MoveObstacle::NoRoom { partition: partition.to_string(), place, bytes }
        }
        mover::Reason::Refused(refusal) => refused(change, refusal),
    }
}

fn refused(change: &Change, refusal: Refusal) -> MoveObstacle {
    let may_cancel = change.resize.may_be_undone();
    match refusal {
        Refusal::NoBrokerStays => MoveObstacle::NoServerStays,
        Refusal::SingleCopy { .. } => MoveObstacle::SingleCopy,
        Refusal::TooManyReplicas { topic, replicas, staying } => {
            let topic = topic.to_string();
            MoveObstacle::TooManyReplicas { topic, replicas, staying, may_cancel }
        }
        Refusal::DisksTooSmall { moving, unplaced, .. } => {
            MoveObstacle::DisksTooSmall { moving, unplaced, may_cancel }
        }
    }
}

pub(super) fn obstacle(change: &Change, obstacle: Obstacle) -> MoveObstacle {
    let name = |partition: PartitionName| partition.to_string();
    match obstacle {
        Obstacle::UnderWay { partition } | Obstacle::NothingUnderWay { partition } => {
            MoveObstacle::UnderWay { partition: name(partition) }
        }
        Obstacle::NoLeader { partition } => MoveObstacle::NoLeader { partition: name(partition) },
        Obstacle::StaleElr { partition, nodes } => {
            MoveObstacle::StaleElr { partition: name(partition), nodes }
        }
        Obstacle::Lagging { partition, nodes } => MoveObstacle::Lagging {
            partition: name(partition),
            places: nodes.into_iter().map(|node| change.place(node)).collect(),
        },
        Obstacle::BelowMinIsr { partition, replicas, min_isr } => {
            MoveObstacle::BelowMinIsr { partition: name(partition), replicas, min_isr }
        }
        Obstacle::Unreachable { node } => MoveObstacle::Unreachable { place: change.place(node) },
    }
}
