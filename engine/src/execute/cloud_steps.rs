//! Steps that have a cloud make something.

use crate::pass::{Done, Pass};
use crate::world::{ServerView, World};
use crate::{Engine, PassError};
use cloud::{
    Addresses, Agent, Cloud, DiskSpec, Epoch, NetworkSpec, ObservedServer, Outcome, Owner, Remedy,
    ServerSpec,
};
use model::{Disk, DiskState, Plan, Reason, Secret, ServerState, SignedDuration, Timestamp};
use std::sync::Arc;
use store::{Token, actions, disks, hash_key, instances, servers};

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
        Ok(finished(cloud.take_over(&by).await).err().unwrap_or(Done::Progress))
    }

    pub(super) async fn make_network(&self, pass: &Pass, world: &World) -> Result<Done, PassError> {
        let subnet = world.vpc.as_ref().map(|vpc| vpc.subnet.to_string()).unwrap_or_default();
        let network = NetworkSpec { vpc_id: world.instance.vpc_id, subnet };
        let (cloud, by) = self.cloud_for(pass, world).await?;
        if let Err(done) = finished(cloud.ensure_network(&by, &network).await) {
            return Ok(done);
        }
        self.note(pass, world, |progress| progress.network_made = true).await
    }

    /// Has the cloud make the disk, or make it larger while its broker runs.
    pub(super) async fn make_disk(
        &self,
        pass: &Pass,
        world: &World,
        disk: &Disk,
    ) -> Result<Done, PassError> {
        let (cloud, by) = self.cloud_for(pass, world).await?;
        if let Err(done) = finished(cloud.ensure_disk(&by, &disk_spec(disk)).await) {
            return Ok(done);
        }
        let mut work = self.guarded(pass).await?;
        disks::advance(&mut work, disk.id, DiskState::Planned, DiskState::Made).await?;
        disks::set_made_gb(&mut work, disk.id, disk.size_gb).await?;
        // It may have been asked to be larger before it was made.
        actions::end_disks(&mut work, disk.instance_id, self.clock.now()).await?;
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
        let grant = self.grant(world, view).await?;
        let token = self.token_for(pass, view).await?;
        let spec = ServerSpec {
            id: view.server.id,
            incarnation: view.server.incarnation,
            instance_id: world.instance.id,
            vpc_id: world.instance.vpc_id,
            disk_id: disk.id,
            cores: grant.cores,
            memory_mb: grant.memory_mb,
            addresses: recorded_addresses(view),
            token: token.clone(),
        };
        let (cloud, by) = self.cloud_for(pass, world).await?;
        match finished(cloud.ensure_server(&by, &spec).await) {
            Ok(observed) => {
                self.note_grant(pass, view, grant).await?;
                self.note_server(pass, world, view, &observed, token.as_ref()).await
            }
            Err(done) => Ok(done),
        }
    }

    /// Saves that the server exists, where, and that it has its token. What an agent that had
    /// ended said of its broker may be long past, so a new one has to say it again.
    async fn note_server(
        &self,
        pass: &Pass,
        world: &World,
        view: &ServerView,
        observed: &ObservedServer,
        token: Option<&Secret>,
    ) -> Result<Done, PassError> {
        let started = observed.agent == Agent::Started;
        let outdated = view.report_text.as_deref().filter(|_| started);
        let (moved, membership) = (moved(view, &observed.addresses), view.server.membership);
        if view.server.state == ServerState::Made && outdated.is_none() && token.is_none() {
            return Ok(Done::Progress);
        }
        let mut work = self.guarded(pass).await?;
        if let Some(Addresses { private_ip, listeners }) = moved {
            servers::set_addresses(&mut work, &view.server, private_ip, listeners).await?;
            let (from, to) = (&view.server.listeners, listeners);
            let [from, to] = [from, to].map(|it| it.public_sasl_scram().advertised_host);
            instances::move_hostname(&mut work, world.instance.id, &from, &to).await?;
            // Each of them names the addresses of all controllers. Those that run before
            // others join are rendered again once they are restarted.
            for other in world.servers.iter().filter(|it| it.server.membership == membership) {
                servers::forget_broker(&mut work, other.server.id).await?;
            }
        }
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
        Ok(Done::Progress)
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

    /// The instance's cloud, for one effect by the holder of the lease, and
    /// what shows the cloud that no other worker has held it since.
    pub(super) async fn cloud_for(
        &self,
        pass: &Pass,
        world: &World,
    ) -> Result<(&Arc<dyn Cloud>, Owner), PassError> {
        self.look_at_lease(pass).await?;
        let region = &world.instance.region;
        let cloud =
            self.clouds.serving(region).ok_or_else(|| PassError::NoCloud(region.clone()))?;
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

pub(super) fn disk_spec(disk: &Disk) -> DiskSpec {
    DiskSpec {
        id: disk.id,
        instance_id: disk.instance_id,
        server_id: disk.server_id,
        size_gb: disk.size_gb,
    }
}

fn recorded_addresses(view: &ServerView) -> Addresses {
    let (private_ip, listeners) = (view.server.private_ip.clone(), view.server.listeners.clone());
    Addresses { private_ip, listeners }
}

/// The addresses that the cloud gave a server, if they are others than those on record and
/// the server is new. Those of a server that was made before are kept as they are on record:
/// its certificates, its cluster's metadata and its clients know it by them, so that a person
/// has to decide what becomes of it.
fn moved<'a>(view: &ServerView, observed: &'a Addresses) -> Option<&'a Addresses> {
    let recorded = recorded_addresses(view);
    if *observed == recorded {
        return None;
    }
    if view.server.state != ServerState::Planned {
        let (server, now, before) = (view.server.id, &observed.private_ip, &recorded.private_ip);
        tracing::warn!(%server, now, before, "a server has other addresses than on record");
        return None;
    }
    Some(observed)
}

/// What a cloud has made, or what it means for the step that it has not.
pub(super) fn finished<T>(outcome: Outcome<T>) -> Result<T, Done> {
    match outcome {
        Outcome::Ready(made) => Ok(made),
        Outcome::Pending { reason, after } => {
            Err(Done::Wait { reason: Reason::CloudPending { what: reason }, after })
        }
        Outcome::Failed { reason, remedy, refusal } => {
            if let Some(refusal) = refusal {
                tracing::warn!(refusal = refusal.as_str(), "the cloud has refused an effect");
            }
            Err(Done::Failed { reason, remedy })
        }
    }
}
