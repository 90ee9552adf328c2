//! The transaction that saves a change of servers: all of it or nothing.

use super::obstacles::unchanged;
use super::{ServerChange, leaving_of};
use crate::actions::configure::start_anew;
use crate::actions::record::{Asking, record};
use crate::actions::scene::Scene;
use crate::instances::{Labels, WriteError, label_extras, newcomers, rows};
use crate::{App, InstanceAccess, Place, Result, audit, history, limits};
use model::{
    ActionId, ActionKind, AgreedPrice, Instance, Membership, Resize, ResizeMemory, ServerId,
};
use store::{Work, disks, instances, resizes, servers};

/// Saves labels, plan, price, disks, servers that come or go, actions and audit lines.
pub async fn write(
    access: &InstanceAccess,
    app: &App,
    seen: &Instance,
    change: &ServerChange,
    labels: &Labels,
    places: &[Place],
) -> std::result::Result<ActionId, WriteError> {
    let mut work = app.store().begin().await?;
    let scene = Scene::load(access, app, &mut work).await?;
    unchanged(seen, &scene.instance)?;
    if change.changes_plan() {
        scene.settled(access, &mut work).await?;
    }
    limits::check_growth(&mut work, app, &scene.instance, change).await?;
    let writing = Writing { access, app, change, after: after(&scene.instance, change, labels) };
    writing.labels(&mut work, &scene.instance).await?;
    let disk = writing.disks(&mut work, &scene).await?;
    let plan = writing.plan(&mut work, &scene, places).await?;
    history::chosen(&mut work, app, &scene.instance, &writing.after).await?;
    work.commit().await?;
    plan.or(disk).ok_or_else(|| crate::Error::internal("nothing was to be changed").into())
}

/// The instance as it shall be.
fn after(present: &Instance, change: &ServerChange, labels: &Labels) -> Instance {
    Instance {
        name: labels.name.clone(),
        tags: labels.tags.clone(),
        plan: change.plan.name.clone(),
        nodes: change.plan.nodes,
        disk_size: change.disk_size,
        ..present.clone()
    }
}

struct Writing<'a> {
    access: &'a InstanceAccess,
    app: &'a App,
    change: &'a ServerChange,
    after: Instance,
}

impl Writing<'_> {
    async fn labels(&self, work: &mut Work, before: &Instance) -> Result<()> {
        let after = &self.after;
        if (&before.name, &before.tags) == (&after.name, &after.tags) {
            return Ok(());
        }
        instances::set_labels(work, after.id, &after.name, &after.tags).await?;
        let asker = self.access.asker(work).await?;
        audit::write(work, &asker, self.app.now(), "instance.update", &label_extras(after)).await
    }

    /// The engine has the cloud make them larger; brokers go on meanwhile.
    async fn disks(&self, work: &mut Work, scene: &Scene) -> Result<Option<ActionId>> {
        let (id, now) = (self.after.id, self.app.now());
        instances::set_disk_size(work, id, self.after.disk_size).await?;
        if !self.change.grows_disks() {
            return Ok(None);
        }
        disks::grow(work, id, self.change.disk_gb()).await?;
        instances::wake(work, id, now).await?;
        let about = ("disk_size", self.change.disk_gb().to_string());
        let asking = Asking {
            kind: ActionKind::ResizeDisk,
            event: "instance.resize_disk",
            servers: &[],
            generation: scene.instance.generation,
            replaced: vec![],
        };
        record(work, self.access, self.app, &self.after, asking, Some(about)).await.map(Some)
    }

    async fn plan(
        &self,
        work: &mut Work,
        scene: &Scene,
        places: &[Place],
    ) -> Result<Option<ActionId>> {
        let (after, change) = (&self.after, self.change);
        if !change.changes_plan() {
            return Ok(None);
        }
        let now = self.app.now();
        let generation = instances::set_size(work, after.id, &after.plan, after.nodes, now).await?;
        if change.resizes() && change.changes_family() {
            // The engine restarts those that stay, once, when it has to for their number.
            servers::forget_brokers(work, after.id).await?;
        } else if change.changes_family() {
            start_anew(work, scene).await?;
        }
        self.servers(work, scene, places).await?;
        let kind = if change.resizes() { ActionKind::Resize } else { ActionKind::ChangePlan };
        let about = ("plan", format!("{}, before {}", after.plan, scene.instance.plan));
        let (event, servers) = ("instance.update", &[][..]);
        let asking = Asking { kind, event, servers, generation, replaced: vec![] };
        let action = record(work, self.access, self.app, after, asking, Some(about)).await?;
        if change.resizes() {
            let agreed = history::agreed(work, &scene.instance).await?;
            resizes::begin(work, &self.resize(action, agreed)).await?;
        }
        Ok(Some(action))
    }

    /// New servers join with their disks; those that go are marked.
    async fn servers(&self, work: &mut Work, scene: &Scene, places: &[Place]) -> Result<()> {
        for server in leaving_of(self.change, scene) {
            servers::set_membership(work, server.id, Membership::Leaving).await?;
        }
        if !self.change.resizes() {
            return Ok(());
        }
        // Also where none is given: the rows of those that leave will be gone.
        let count = u32::try_from(places.len()).unwrap_or_default();
        let node_ids = instances::take_node_ids(work, self.after.id, count).await?;
        let newcomers = newcomers(&scene.servers, places.len());
        for ((newcomer, place), node_id) in newcomers.iter().zip(places).zip(node_ids) {
            let ids = (ServerId(work.next("servers").await?), node_id);
            let server = rows::server(&self.after, place, newcomer, ids, Membership::Joining);
            servers::insert(work, &server).await?;
            let disk = rows::disk(self.app, &server, self.change.disk_gb(), false);
            disks::insert(work, &disk).await?;
        }
        Ok(())
    }

    fn resize(&self, action_id: ActionId, agreed: Option<AgreedPrice>) -> Resize {
        let rendered_for = self.change.changes_family().then_some(0);
        let (from, to) = (self.change.nodes_before, self.change.plan.nodes);
        Resize {
            raise_replication: self.change.raise_replication,
            accept_single_copy: self.change.accept_single_copy,
            memory: ResizeMemory { rendered_for, agreed, ..ResizeMemory::default() },
            ..Resize::new(self.after.id, action_id, from, to)
        }
    }
}
