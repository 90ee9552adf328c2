//! Using the servers of a cluster evenly: the same servers, other replicas on them.

use super::change::obstacles::{staying_servers_run, unchanged};
use super::change::{DryRun, Preview, preview_rebalance};
use super::record::{Asking, record};
use super::scene::Scene;
use crate::placement::{self, Placement};
use crate::{App, Asked, InstanceAccess, Result};
use model::{ActionId, ActionKind, Resize};
use mover::{Aim, Limits};
use store::{instances, resizes};

/// What became of the call.
#[derive(Debug)]
pub enum Rebalanced {
    Begun(ActionId),
    /// Every server has its share already.
    Even,
    /// It was asked what would be done, and nothing was.
    Planned(Preview),
}

/// A cluster that could be rebalanced.
pub(super) struct Found {
    pub scene: Scene,
    pub placement: Placement,
}

pub async fn rebalance(
    access: &InstanceAccess,
    app: &App,
    dry_run: Asked<DryRun>,
) -> Result<Rebalanced> {
    access.may_change()?;
    let DryRun(is_dry_run) = dry_run.checked()?;
    if is_dry_run {
        return preview_rebalance(access, app).await.map(Rebalanced::Planned);
    }
    let Found { scene, placement } = look(access, app).await?;
    let is_even = mover::plan(&placement.cluster, &Aim::rebalance()).is_empty();
    if is_even && elections(&placement) == 0 {
        return Ok(Rebalanced::Even);
    }
    write(access, app, &scene).await.map(Rebalanced::Begun)
}

/// How many partitions are led by another than their first replica, which could lead them.
pub(super) fn elections(placement: &Placement) -> usize {
    let all = Limits { leaders: usize::MAX, ..Limits::default() };
    mover::elections(&placement.cluster, &all).len()
}

pub(super) async fn look(access: &InstanceAccess, app: &App) -> Result<Found> {
    let mut reader = app.store().reader();
    let scene = Scene::load(access, app, &mut reader).await?;
    scene.settled(access, &mut reader).await?;
    staying_servers_run(app, &scene, &[], &mut reader).await?;
    let plan = app.catalogue.plan(&scene.instance.plan.0);
    let disk_gb = plan.map(|plan| plan.disk_gb(scene.instance.disk_size)).unwrap_or_default();
    let (instance, servers) = (&scene.instance, &scene.servers);
    let placement = placement::read(app, instance, servers, &[], disk_gb).await?;
    Ok(Found { scene, placement })
}

async fn write(access: &InstanceAccess, app: &App, seen: &Scene) -> Result<ActionId> {
    let mut work = app.store().begin().await?;
    let scene = Scene::load(access, app, &mut work).await?;
    scene.settled(access, &mut work).await?;
    let instance = &scene.instance;
    unchanged(&seen.instance, instance)?;
    let generation = instances::raise(&mut work, instance.id, app.now()).await?;
    let (kind, event) = (ActionKind::Rebalance, "instance.rebalance");
    let asking = Asking { kind, event, servers: &[], generation, replaced: vec![] };
    let action_id = record(&mut work, access, app, instance, asking, None).await?;
    let nodes = instance.nodes;
    let resize =
        Resize { raise_replication: false, ..Resize::new(instance.id, action_id, nodes, nodes) };
    resizes::begin(&mut work, &resize).await?;
    work.commit().await?;
    Ok(action_id)
}
