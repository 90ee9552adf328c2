//! Stopping a whole cluster and starting it again. No process runs in between;
//! data, addresses and credentials stay.

use super::launches;
use super::open::replaced_by;
use super::record::{Asking, record};
use super::scene::Scene;
use crate::{App, InstanceAccess, Result};
use model::{ActionId, ActionKind, Instance};
use store::{Work, instances, servers};
use watch::alarms::stop_measuring;

/// Whether a cluster shall run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Power {
    Stop,
    Start,
}

/// Notes what shall be; the engine makes it so. None if that is so already.
pub async fn set_power(
    access: &InstanceAccess,
    app: &App,
    power: Power,
) -> Result<Option<ActionId>> {
    access.may_change()?;
    let mut work = app.store().begin().await?;
    let Scene { instance, .. } = Scene::load(access, app, &mut work).await?;
    if instance.stopped == (power == Power::Stop) {
        return Ok(None);
    }
    let id = switch(&mut work, access, app, &instance, power).await?;
    work.commit().await?;
    Ok(Some(id))
}

/// Writes the change of one that is as yet the other.
pub(super) async fn switch(
    work: &mut Work,
    access: &InstanceAccess,
    app: &App,
    instance: &Instance,
    power: Power,
) -> Result<ActionId> {
    let (kind, event) = match power {
        Power::Stop => (ActionKind::ClusterStop, "instance.stop"),
        Power::Start => (ActionKind::ClusterStart, "instance.start"),
    };
    let replaced = replaced_by(access, work, instance, kind, &[]).await?;
    instances::set_stopped(work, instance.id, power == Power::Stop, app.now()).await?;
    if power == Power::Stop {
        let why = "is over: the cluster was stopped as asked";
        stop_measuring(work, app.watch(), instance, None, why).await?;
    } else {
        for record in servers::list(work, instance.id).await? {
            launches::render_anew(work, record.server.id).await?;
        }
    }
    // Raised by that; no other transaction writes at this time.
    let generation = instance.generation + 1;
    let asking = Asking { kind, event, servers: &[], generation, replaced };
    record(work, access, app, instance, asking, None).await
}
