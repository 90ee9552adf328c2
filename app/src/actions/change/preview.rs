//! What a change would do to servers and replicas. Nothing is written.

use super::{ServerChange, leaving_of, obstacles};
use crate::actions::rebalance;
use crate::actions::scene::Scene;
use crate::instances::newcomers;
use crate::placement::{self, Placement};
use crate::{App, InstanceAccess, Result};
use model::{Instance, Server};
use mover::{Aim, Move, MovePlan};

/// Whether a call is only to tell what it would do.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct DryRun(pub bool);

/// As many as anybody reads.
const MOST_MOVES: usize = 1000;

#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Preview {
    /// Names of servers.
    pub joining: Vec<String>,
    pub leaving: Vec<String>,
    /// Those whose brokers would be restarted.
    pub restarting: Vec<String>,
    /// GB of each server afterwards.
    pub disk_gb: u32,
    /// What would be copied.
    pub bytes: u64,
    /// Partitions whose replicas would change.
    pub partitions: usize,
    /// The first of these.
    pub moves: Vec<PlannedMove>,
    /// Partitions that their first replica does not lead and could.
    pub leaders: usize,
    /// Topics that would keep one replica for want of room.
    pub not_raised: Vec<String>,
}

/// New replicas of one partition, by the names of servers.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PlannedMove {
    pub topic: String,
    pub partition: i32,
    pub from: Vec<String>,
    pub to: Vec<String>,
    pub bytes: u64,
}

/// Fails as the change itself would.
pub(crate) async fn preview_change(
    access: &InstanceAccess,
    app: &App,
    instance: &Instance,
    change: Option<&ServerChange>,
) -> Result<Preview> {
    let Some(change) = change else { return Ok(unchanged(app, instance)) };
    let (scene, read) = obstacles::look(access, app, instance, change).await?;
    let leaving = leaving_of(change, &scene);
    let mut preview = Preview {
        leaving: leaving.iter().map(|server| server.name.clone()).collect(),
        disk_gb: change.disk_gb(),
        ..Preview::default()
    };
    if change.changes_family() {
        let stays = |it: &&Server| leaving.iter().all(|other| other.id != it.id);
        let runs = scene.servers.iter().filter(|it| !it.wanted.is_stopped()).filter(stays);
        preview.restarting = runs.map(|server| server.name.clone()).collect();
    }
    if !change.resizes() {
        return Ok(preview);
    }
    let Scene { instance, servers } = &scene;
    let mut placement = match read {
        Some(placement) => placement,
        None => placement::read(app, instance, servers, &leaving, change.disk_gb()).await?,
    };
    let joining = newcomers(servers, change.adds());
    let places = super::places(app, instance, change).await?;
    // Which ids they get is decided when they are added.
    let next = servers.iter().map(|server| server.node_id).max().unwrap_or_default() + 1;
    for ((newcomer, place), node) in joining.iter().zip(places).zip(next..) {
        let name = newcomer.name(&instance.username);
        placement.add(node, name.clone(), place.zone, change.disk_gb());
        preview.joining.push(name);
    }
    Ok(preview.with(&placement, &obstacles::aim(change)))
}

/// Nothing is asked for that servers have to follow.
fn unchanged(app: &App, instance: &Instance) -> Preview {
    let plan = app.catalogue.plan(&instance.plan.0);
    let disk_gb = plan.map(|plan| plan.disk_gb(instance.disk_size)).or(instance.disk_size);
    Preview { disk_gb: disk_gb.unwrap_or_default(), ..Preview::default() }
}

/// The moves of a rebalance. Fails as it would itself.
pub(crate) async fn preview_rebalance(access: &InstanceAccess, app: &App) -> Result<Preview> {
    let found = rebalance::look(access, app).await?;
    let preview = unchanged(app, &found.scene.instance);
    Ok(preview.with(&found.placement, &Aim::rebalance()))
}

impl Preview {
    fn with(self, placement: &Placement, aim: &Aim) -> Self {
        let MovePlan { moves, bytes, not_raised, .. } = mover::plan(&placement.cluster, aim);
        let names = |nodes: &[i32]| nodes.iter().map(|node| placement.name(*node)).collect();
        let planned = |it: &Move| PlannedMove {
            topic: it.partition.topic.to_string(),
            partition: it.partition.index,
            from: names(&it.from),
            to: names(&it.to),
            bytes: it.bytes,
        };
        Self {
            bytes,
            leaders: rebalance::elections(placement),
            partitions: moves.len(),
            moves: moves.iter().take(MOST_MOVES).map(planned).collect(),
            not_raised: not_raised.iter().map(|it| it.topic.to_string()).collect(),
            ..self
        }
    }
}
