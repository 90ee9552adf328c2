//! Steps that have a cloud make something.

use crate::pass::{Done, Pass};
use crate::world::{ServerView, World};
use crate::{Engine, PassError};
use cloud::{Agent, Cloud, DiskSpec, Epoch, NetworkSpec, Outcome, Owner, Remedy, ServerSpec};
use model::{Disk, DiskState, Plan, Reason, Secret, SignedDuration, Timestamp};
use std::sync::Arc;
use store::{Token, disks, hash_key, servers};

const TOKEN_LIFE: SignedDuration = SignedDuration::from_mins(15);
/// An agent that was not heard of for so long may have lost its certificate, or
/// let it run out. It gets a token, which one that has a certificate ignores.
const HEARD_LATELY: SignedDuration = SignedDuration::from_mins(2);
/// A token with less left than this is replaced, so that a slow agent does not
/// find it expired.
const TOKEN_SPARE: SignedDuration = SignedDuration::from_mins(5);

impl Engine {
    pub(super) async fn take_over(&self, pass: &Pass, world: &World) -> Result<Done, PassError> {
        let (cloud, by) = self.cloud_for(pass, world).await?;
        Ok(unfinished(&cloud.take_over(&by).await).unwrap_or(Done::Progress))
    }

    pub(super) async fn make_network(&self, pass: &Pass, world: &World) -> Result<Done, PassError> {
        let subnet = world.vpc.as_ref().map(|vpc| vpc.subnet.to_string()).unwrap_or_default();
        let network = NetworkSpec { vpc_id: world.instance.vpc_id, subnet };
        let (cloud, by) = self.cloud_for(pass, world).await?;
        let outcome = cloud.ensure_network(&by, &network).await;
        if let Some(done) = unfinished(&outcome) {
            return Ok(done);
        }
        self.note(pass, world, |progress| progress.network_made = true).await
    }

    pub(super) async fn make_disk(
        &self,
        pass: &Pass,
        world: &World,
        disk: &Disk,
    ) -> Result<Done, PassError> {
        let spec = DiskSpec {
            id: disk.id,
            instance_id: disk.instance_id,
            server_id: disk.server_id,
            size_gb: disk.size_gb,
        };
        let (cloud, by) = self.cloud_for(pass, world).await?;
        let outcome = cloud.ensure_disk(&by, &spec).await;
        if let Some(done) = unfinished(&outcome) {
            return Ok(done);
        }
        let mut work = self.guarded(pass).await?;
        disks::advance(&mut work, disk.id, DiskState::Planned, DiskState::Made).await?;
        work.commit().await?;
        Ok(Done::Progress)
    }

    /// Has the agent running. Until it is enrolled it gets a token, whose hash
    /// is saved before the token leaves this process. Only once the cloud has it
    /// does it count as given: after a crash in between there is another.
    pub(super) async fn ensure_server(
        &self,
        pass: &Pass,
        world: &World,
        view: &ServerView,
    ) -> Result<Done, PassError> {
        let Some(disk) = &view.disk else {
            let reason = format!("{} has no disk on record", view.title());
            return Ok(Done::Failed { reason, remedy: Remedy::GiveUp });
        };
        let plan = self.plan_of(world)?;
        let token = self.token_for(pass, view).await?;
        let spec = ServerSpec {
            id: view.server.id,
            incarnation: view.server.incarnation,
            instance_id: world.instance.id,
            vpc_id: world.instance.vpc_id,
            disk_id: disk.id,
            cores: plan.family.cores,
            memory_mb: plan.family.memory_gb * 1024,
            token: token.clone(),
        };
        let (cloud, by) = self.cloud_for(pass, world).await?;
        let outcome = cloud.ensure_server(&by, &spec).await;
        if let Some(done) = unfinished(&outcome) {
            return Ok(done);
        }
        let started = outcome == Outcome::Ready(Agent::Started);
        self.note_server(pass, view, started, token.as_ref()).await?;
        Ok(Done::Progress)
    }

    /// Saves that the server exists and has its token. What an agent that had ended
    /// said of its broker may be long past, so a new one has to say it again.
    async fn note_server(
        &self,
        pass: &Pass,
        view: &ServerView,
        started: bool,
        token: Option<&Secret>,
    ) -> Result<(), PassError> {
        let outdated = view.report_text.as_deref().filter(|_| started);
        if view.server.made && outdated.is_none() && token.is_none() {
            return Ok(());
        }
        let mut work = self.guarded(pass).await?;
        servers::set_made(&mut work, view.server.id).await?;
        if let Some(token) = token {
            let expires_at = self.clock.now() + TOKEN_LIFE;
            let given = Token { hash: hash_key(token), expires_at };
            servers::prolong_token(&mut work, view.server.id, &given).await?;
        }
        if let Some(report) = outdated {
            servers::clear_report(&mut work, view.server.id, report).await?;
        }
        work.commit().await?;
        Ok(())
    }

    /// A new token, if the agent needs one and has none that lasts.
    async fn token_for(&self, pass: &Pass, view: &ServerView) -> Result<Option<Secret>, PassError> {
        let now = self.clock.now();
        // One that lasts longer than any was given while the clock was ahead.
        let is_good = |until| until > now + TOKEN_SPARE && until <= now + TOKEN_LIFE;
        let lasts = view.token_expires_at.is_some_and(is_good);
        if is_enrolled(view, now) || lasts {
            return Ok(None);
        }
        let token = self.entropy.key();
        // Too short to count as one that lasts, until the cloud has it.
        let saved = Token { hash: hash_key(&token), expires_at: now + TOKEN_SPARE };
        let mut work = self.guarded(pass).await?;
        servers::set_token(&mut work, view.server.id, &saved).await?;
        work.commit().await?;
        Ok(Some(token))
    }

    /// The instance's cloud, for one effect by whoever holds the lease, and
    /// what shows the cloud that nobody else has held it since.
    pub(super) async fn cloud_for(
        &self,
        pass: &Pass,
        world: &World,
    ) -> Result<(&Arc<dyn Cloud>, Owner), PassError> {
        self.look_at_lease(pass).await?;
        let region = &world.instance.region;
        let cloud = self.cloud(region).ok_or_else(|| PassError::NoCloud(region.clone()))?;
        let epoch = Epoch { store: world.store_epoch, lease: pass.lease.epoch };
        Ok((cloud, Owner { instance_id: world.instance.id, epoch }))
    }

    pub(super) fn plan_of(&self, world: &World) -> Result<&Plan, PassError> {
        let plan = &world.instance.plan;
        self.catalogue.plan(&plan.0).ok_or_else(|| PassError::NoPlan(plan.clone()))
    }
}

/// Whether the agent shows that it has a certificate that it can use.
fn is_enrolled(view: &ServerView, now: Timestamp) -> bool {
    let Some(enrolled_at) = view.server.enrolled_at else { return false };
    let heard = view.server.last_seen.map_or(enrolled_at, |seen| seen.max(enrolled_at));
    now.duration_since(heard) < HEARD_LATELY
}

/// What a cloud's answer means for the step, unless the thing is ready.
pub(super) fn unfinished<T>(outcome: &Outcome<T>) -> Option<Done> {
    match outcome {
        Outcome::Ready(_) => None,
        Outcome::Pending { reason, after } => {
            let reason = Reason::CloudPending { what: reason.clone() };
            Some(Done::Wait { reason, after: *after })
        }
        Outcome::Failed { reason, remedy } => {
            Some(Done::Failed { reason: reason.clone(), remedy: *remedy })
        }
    }
}
