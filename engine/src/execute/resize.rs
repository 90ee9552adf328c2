//! What is written down while the number of servers changes. Each write checks that the change
//! was not undone since it was planned.

use crate::pass::{Done, Pass};
use crate::plan::sizing;
use crate::world::{ServerView, World};
use crate::{Engine, PassError};
use kafka::client::{Changes, SettingsOf};
use kafka::settings::CORDONED;
use model::Resize;
use store::{ServerRecord, Work, actions, instances, resizes, servers};

impl Engine {
    pub(super) async fn cordon(&self, pass: &Pass, world: &World) -> Result<Done, PassError> {
        let Some(placed) = world.placed() else { return Ok(Done::Progress) };
        let changes = world.servers.iter().filter_map(|view| {
            let (node, leaves) = (view.server.node_id, view.server.is_leaving());
            let own = placed.view.broker(node).filter(|it| it.is_up())?.own.as_ref()?;
            let value = leaves.then(|| "*".to_owned());
            let change = Changes::from([(CORDONED.to_owned(), value)]);
            (own.is_cordoned != leaves).then_some((SettingsOf::Broker(node), change))
        });
        let cluster = self.reach.cluster(world.instance.id, &world.running_first()).await?;
        self.change_settings(pass, &cluster, changes.collect()).await
    }

    /// In one transaction with what says that it is done: a repeated one would restart them
    /// once more.
    pub(super) async fn restart_staying(
        &self,
        pass: &Pass,
        world: &World,
    ) -> Result<Done, PassError> {
        let Some((mut work, mut resize)) = self.unchanged(pass, world).await? else {
            return Ok(Done::Changed);
        };
        let promoted = sizing::promoted(world);
        for record in servers::list(&mut work, world.instance.id).await? {
            let id = record.server.id;
            let promotion = promoted.iter().find(|(view, _)| view.server.id == id);
            if let Some((_, roles)) = promotion {
                servers::set_roles(&mut work, id, roles).await?;
            }
            let is_member = record.server.membership == model::Membership::Member;
            if is_member || promotion.is_some() {
                start_anew(&mut work, &record).await?;
            }
        }
        resize.memory.rendered_for = Some(resize.aim());
        resizes::set_memory(&mut work, world.instance.id, &resize.memory).await?;
        work.commit().await?;
        Ok(Done::Changed)
    }

    pub(super) async fn begin_removing(
        &self,
        pass: &Pass,
        world: &World,
    ) -> Result<Done, PassError> {
        let Some((mut work, resize)) = self.unchanged(pass, world).await? else {
            return Ok(Done::Changed);
        };
        resizes::set_removing(&mut work, world.instance.id, resize.undo).await?;
        work.commit().await?;
        Ok(Done::Progress)
    }

    pub(super) async fn stop_leaving(&self, pass: &Pass, world: &World) -> Result<Done, PassError> {
        let Some((mut work, _)) = self.unchanged(pass, world).await? else {
            return Ok(Done::Changed);
        };
        for server in servers::list_bare(&mut work, world.instance.id).await? {
            if let Some(stopped) = server.wanted.stop().filter(|_| server.is_leaving()) {
                servers::set_wanted(&mut work, server.id, stopped).await?;
            }
        }
        work.commit().await?;
        Ok(Done::Progress)
    }

    pub(super) async fn start_leaving(
        &self,
        pass: &Pass,
        world: &World,
        view: &ServerView,
    ) -> Result<Done, PassError> {
        let Some((mut work, _)) = self.unchanged(pass, world).await? else {
            return Ok(Done::Changed);
        };
        if let Some(running) = view.server.wanted.start() {
            servers::set_wanted(&mut work, view.server.id, running).await?;
        }
        work.commit().await?;
        Ok(Done::Progress)
    }

    pub(super) async fn end_resize(&self, pass: &Pass, world: &World) -> Result<Done, PassError> {
        let Some((mut work, resize)) = self.unchanged(pass, world).await? else {
            return Ok(Done::Changed);
        };
        let leftovers = world.placed().map(|placed| placed.leftovers(&resize));
        for note in leftovers.unwrap_or_default() {
            actions::keep(&mut work, resize.action_id, &note, self.clock.now()).await?;
        }
        resizes::end(&mut work, world.instance.id, resize.undo).await?;
        work.commit().await?;
        self.forget_pace(world.instance.id);
        tracing::info!(instance = %world.instance.id, servers = resize.aim(), "servers changed");
        Ok(Done::Changed)
    }

    /// The row as it is by now, locked until the transaction ends. None: it was
    /// undone since, or is gone.
    async fn unchanged(
        &self,
        pass: &Pass,
        world: &World,
    ) -> Result<Option<(Work, Resize)>, PassError> {
        let id = world.instance.id;
        let mut work = self.guarded(pass).await?;
        instances::hold(&mut work, id).await?;
        let now = resizes::find(&mut work, id).await?;
        let planned = world.resize.as_ref().map(|resize| (resize.action_id, resize.undo));
        let same = now.filter(|now| Some((now.action_id, now.undo)) == planned);
        Ok(same.map(|resize| (work, resize)))
    }
}

/// With what is rendered for the new number of servers, once its turn comes.
async fn start_anew(work: &mut Work, record: &ServerRecord) -> Result<(), PassError> {
    let reported = record.parse_report().map_or(0, |report| report.launch);
    let known = record.desired_launch().max(reported);
    if let Some(wanted) = record.server.wanted.restart(known) {
        servers::set_wanted(work, record.server.id, wanted).await?;
    }
    Ok(servers::forget_broker(work, record.server.id).await?)
}
