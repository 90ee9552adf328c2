//! What servers follow when a customer changes the plan, the number of servers or their
//! disks.
//!
//! Everything that may be in the way is looked at first, while no transaction is open: other
//! changes, the room of the region, and for fewer servers the cluster itself. Then all of
//! the intent is written at once: the plan, its price, the rows of new servers and disks or
//! the mark of those that leave, the action, the audit line and the wake-up.

mod leaving;
pub(super) mod obstacles;
mod preview;
mod write;

pub use preview::{DryRun, PlannedMove, Preview};
pub(crate) use preview::{preview_change, preview_rebalance};

use super::scene::Scene;
use crate::instances::{Labels, WriteError, settle};
use crate::{App, Error, InstanceAccess, Place, Result};
use leaving::leaving;
use model::{ActionId, Instance, Plan, Server};

/// A checked change: at least one of its parts differs from what the instance is.
#[derive(Clone, Debug)]
pub(crate) struct ServerChange {
    /// What it shall be.
    pub plan: Plan,
    /// What it is; none if that left the catalogue.
    pub from: Option<Plan>,
    pub nodes_before: u32,
    /// Gigabytes of each server before.
    pub disk_before: u32,
    /// Asked for, now or before.
    pub disk_size: Option<u32>,
    pub raise_replication: bool,
    pub accept_single_copy: bool,
}

impl ServerChange {
    pub fn disk_gb(&self) -> u32 {
        self.plan.disk_gb(self.disk_size)
    }

    pub fn grows_disks(&self) -> bool {
        self.disk_gb() > self.disk_before
    }

    pub fn adds(&self) -> usize {
        self.plan.nodes.saturating_sub(self.nodes_before) as usize
    }

    pub fn removes(&self) -> usize {
        self.nodes_before.saturating_sub(self.plan.nodes) as usize
    }

    pub fn resizes(&self) -> bool {
        self.plan.nodes != self.nodes_before
    }

    /// Whether servers of another size are asked for, so that every broker is restarted.
    pub fn changes_family(&self) -> bool {
        self.from.as_ref().is_none_or(|from| from.family.name != self.plan.family.name)
    }

    pub fn changes_plan(&self) -> bool {
        self.resizes() || self.changes_family()
    }
}

/// Other control planes may take the same addresses at the same moment.
const ATTEMPTS: usize = 5;

/// Writes down what servers have to follow, with the name and the tags that were asked for
/// beside it. `seen` is the instance that the change was checked against.
pub(crate) async fn change_servers(
    access: &InstanceAccess,
    app: &App,
    seen: &Instance,
    change: &ServerChange,
    labels: &Labels,
) -> Result<ActionId> {
    obstacles::check(access, app, seen, change).await?;
    for _ in 0..ATTEMPTS {
        // One at a time between asking for places and taking them.
        let _turn = app.placing.lock().await;
        let places = places(app, seen, change).await?;
        match write::write(access, app, seen, change, labels, &places).await {
            Ok(action) => return Ok(action),
            Err(WriteError::Taken) => {}
            Err(WriteError::Failed(error)) => return Err(error),
        }
    }
    Err(Error::Refused("This region is busy; try again in a few seconds".into()))
}

/// Where new servers shall be.
async fn places(app: &App, instance: &Instance, change: &ServerChange) -> Result<Vec<Place>> {
    let adds = change.adds();
    if adds == 0 {
        return Ok(vec![]);
    }
    let cloud = app.cloud(&instance.region)?;
    let region = app.catalogue.region(&instance.region.0);
    let region = region.ok_or_else(|| Error::Refused(no_region(instance)))?;
    let taken = store::servers::taken_listeners(&mut app.store().reader()).await?;
    let places = cloud.places.propose(region, &taken, adds).await?;
    if places.len() == adds {
        let (run, region) = (&mut app.store().reader(), &instance.region);
        return settle(app, run, region, instance.vpc_id, places).await;
    }
    Err(Error::internal("the region proposed another number of places than asked for"))
}

fn no_region(instance: &Instance) -> String {
    format!("Region {} is no longer offered, so no server can be added there", instance.region)
}

/// Those of a cluster that leave with this change.
fn leaving_of<'a>(change: &ServerChange, scene: &'a Scene) -> Vec<&'a Server> {
    leaving(&scene.servers, change.removes())
}
