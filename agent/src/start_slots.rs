//! Clusters of a host start one after another, as after a reboot: all at once
//! they would be slow for everyone, and none up before the last.
//!
//! A slot is a whole cluster's, because its controllers need each other. It is for
//! the first start alone, and lasts only so long: a broker that comes back from a
//! failure, or takes its time over its logs, keeps no other cluster waiting. If a
//! fault of the host prevents taking a slot, the broker starts without one.

use crate::place::Place;
use host::{Slot, Slots};
use model::InstanceId;
use std::time::Duration;
use tokio::time::{Instant, sleep};

const AGAIN: Duration = Duration::from_millis(200);
/// No slot is worth a longer wait. Clusters of a host belong to different people, and one
/// who keeps every place must not keep the others down.
const PATIENCE: Duration = Duration::from_mins(10);
/// A JVM that starts keeps this many busy.
const CORES_EACH: usize = 2;

#[derive(Clone, Debug)]
pub struct StartSlots(Slots);

impl StartSlots {
    /// Those of the host that the server is on.
    pub fn on_host_of(place: &Place) -> Self {
        Self::within(Slots::new(place.start_slots(), (host::processors() / CORES_EACH).max(1)))
    }

    pub fn within(slots: Slots) -> Self {
        Self(slots)
    }

    /// Returns once the instance has a slot.
    pub async fn take(
        &self,
        instance: InstanceId,
        progress: &(dyn Fn(String) + Send + Sync),
    ) -> Option<Slot> {
        let patience_ends = Instant::now() + PATIENCE;
        while Instant::now() < patience_ends {
            match self.0.try_take(&instance.to_string()) {
                Ok(Some(slot)) => return Some(slot),
                Ok(None) => progress("waiting while other clusters of this host start".into()),
                Err(error) => {
                    tracing::warn!(%error, "starting without a slot");
                    return None;
                }
            }
            sleep(AGAIN).await;
        }
        tracing::warn!("starting without a slot, after a long wait");
        None
    }
}
