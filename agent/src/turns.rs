//! Clusters of a host start one after another, as after a reboot: all at once
//! they would be slow for everyone, and none up before the last.
//!
//! A turn is a whole cluster's, because its controllers need each other. It is
//! for the first start alone, and lasts only so long: a broker that comes back
//! from a failure, or takes its time over its logs, keeps nobody waiting. A turn
//! that can't be had for some fault of the host is no reason to stay down.

use crate::place::Place;
use host::{Slot, Slots};
use model::InstanceId;
use std::time::Duration;
use tokio::time::{Instant, sleep};

const AGAIN: Duration = Duration::from_millis(200);
/// No turn is worth a longer wait. Clusters of a host belong to different people, and one
/// who keeps every place must not keep the others down.
const PATIENCE: Duration = Duration::from_mins(10);
/// A JVM that starts keeps this many busy.
const CORES_EACH: usize = 2;

#[derive(Clone, Debug)]
pub struct Turns(Slots);

impl Turns {
    /// Those of the host that the server is on.
    pub fn of_host(place: &Place) -> Self {
        Self::within(Slots::new(place.turns(), (host::processors() / CORES_EACH).max(1)))
    }

    pub fn within(slots: Slots) -> Self {
        Self(slots)
    }

    /// Returns when it is that instance's turn.
    pub async fn take(
        &self,
        instance: InstanceId,
        progress: &(dyn Fn(String) + Send + Sync),
    ) -> Option<Slot> {
        let patience_ends = Instant::now() + PATIENCE;
        while Instant::now() < patience_ends {
            match self.0.try_take(&instance.to_string()) {
                Ok(Some(turn)) => return Some(turn),
                Ok(None) => progress("waiting while other clusters of this host start".into()),
                Err(error) => {
                    tracing::warn!(%error, "starting without a turn");
                    return None;
                }
            }
            sleep(AGAIN).await;
        }
        tracing::warn!("starting without a turn, after a long wait");
        None
    }
}
