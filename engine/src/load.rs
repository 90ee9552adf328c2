//! How fast replicas are copied, while producers and disks come first: the throttle follows
//! what the metrics of the brokers say.
//!
//! What was normal before anything moved, and when the throttle was last changed, is in the
//! memory of this process. A control plane that was started anew goes on with the throttle
//! that the brokers have, and takes what it finds for normal.

use crate::Engine;
use crate::world::World;
use model::{ActionId, InstanceId, ServerId, SignedDuration};
use mover::{Cluster, Observed};
use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// As often as brokers are measured: what a throttle does shows in the next sample.
const CHANGE_AFTER: SignedDuration = SignedDuration::from_secs(10);
/// Copies that have not got on for so long get less than producers write to their partitions,
/// and would never catch up.
const TOO_SLOW: SignedDuration = SignedDuration::from_mins(1);

/// What is measured of brokers.
pub trait Load: Send + Sync {
    /// Of the busiest of these servers. None: nothing is known of any.
    fn measured(&self, servers: &[ServerId]) -> Option<Measured>;
}

/// Of the busiest broker.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Measured {
    /// How long the slowest of a hundred produce requests takes. None while there are none.
    pub p99: Option<Duration>,
    /// How busy what answers requests is, from 0 to 1.
    pub busy: f64,
}

/// What is known of each instance whose replicas move.
#[derive(Default)]
pub(crate) struct Pace(Mutex<HashMap<InstanceId, Known>>);

#[derive(Clone, Copy)]
struct Known {
    /// Of an earlier change, which another control plane ended, nothing is of use.
    action: Option<ActionId>,
    /// Before anything moved.
    normal: Option<Duration>,
    /// By the clock that never goes back.
    changed_at: SignedDuration,
    /// The throttle goes no lower: at half of this, copies did not catch up with producers.
    least: u64,
    raised_at: SignedDuration,
}

/// How copies under way get on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Copying {
    Nothing,
    Well,
    /// All brokers are up that copy, and yet as much is left as before.
    TooSlowly,
}

impl Copying {
    pub(crate) fn read(world: &World, cluster: &Cluster) -> Self {
        let mut adding = cluster.partitions.iter().filter_map(|it| it.reassignment.as_ref());
        let Some(first) = adding.next() else { return Self::Nothing };
        let nodes = adding.chain([first]).flat_map(|it| &it.adding);
        let all_up = nodes.into_iter().all(|node| cluster.is_up(*node));
        let moved_at = world.resize.as_ref().and_then(|it| it.progress?.moved_at);
        let still = moved_at.map(|at| world.now.duration_since(at));
        let stands = still.is_some_and(|still| still >= TOO_SLOW);
        if all_up && stands { Self::TooSlowly } else { Self::Well }
    }
}

impl Engine {
    /// With a throttle that follows what is measured.
    #[must_use]
    pub fn measured_by(mut self, load: Arc<dyn Load>) -> Self {
        self.load = Some(load);
        self
    }

    /// The throttle that follows the present one.
    pub(crate) fn next_rate(&self, world: &World, present: u64, copies: Copying) -> u64 {
        let servers: Vec<ServerId> = world.servers.iter().map(|view| view.server.id).collect();
        let measured = self.load.as_ref().and_then(|load| load.measured(&servers));
        let Some(measured) = measured else { return present };
        let now = self.clock.elapsed();
        let mut all = self.pace.0.lock().expect("no holder of this lock panics");
        let known = all.entry(world.instance.id);
        let action = world.resize.as_ref().map(|resize| resize.action_id);
        let normal = measured.p99;
        let begun = Known { action, normal, changed_at: now, least: 0, raised_at: now };
        let known = known.or_insert(begun);
        if known.action != action {
            *known = begun;
        }
        if copies == Copying::Nothing || now - known.changed_at < CHANGE_AFTER {
            return present;
        }
        known.changed_at = now;
        if copies == Copying::TooSlowly && now - known.raised_at >= TOO_SLOW {
            (known.least, known.raised_at) = (present.saturating_mul(2), now);
        }
        let Measured { p99, busy } = measured;
        let observed = Observed { p99, baseline: known.normal, disk: busy };
        self.settings.move_throttle.but_no_less_than(known.least).next(present, &observed)
    }

    /// The next move begins anew.
    pub(crate) fn forget_pace(&self, instance: InstanceId) {
        self.pace.0.lock().expect("no holder of this lock panics").remove(&instance);
    }
}
