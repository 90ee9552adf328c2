//! Reading the world of one instance from the store, all of it at one moment:
//! a plan from rows of two moments could be one that no moment called for.

use crate::world::{ServerView, Trust, World};
use crate::{Engine, PassError};
use model::ActionKind;
use std::collections::HashSet;
use store::instances::{self, Looked};
use store::{
    AuthorityKind, Lease, ServerRecord, actions, authorities, certificates, disk_guards, disks,
    firewalls, leases, resizes, servers, tickets, vpcs,
};

/// What a turn begins with, all of it from one moment.
pub(crate) struct Observed {
    pub world: World,
    /// Wake-ups so far; a later one was not seen.
    pub wakes: i64,
    pub paused: bool,
    /// Whether the instance was this worker's.
    pub held: bool,
}

impl Engine {
    /// None if the instance is gone for good.
    pub(crate) async fn observe(&self, lease: &Lease) -> Result<Option<Observed>, PassError> {
        let id = lease.instance_id;
        let mut moment = self.store.snapshot().await?;
        let Some(looked) = instances::look(&mut moment, id).await? else { return Ok(None) };
        let Looked { instance, wakes, paused } = looked;
        let is_reached = instance.configured();
        let mut actions = if is_reached { vec![] } else { actions::open(&mut moment, id).await? };
        // Disks grow while servers are restarted, and neither waits for the other.
        actions.retain(|action| action.kind != ActionKind::ResizeDisk);
        let mut disks = disks::list(&mut moment, id).await?;
        let mut views = Vec::new();
        for record in servers::list(&mut moment, id).await? {
            let disk = disks
                .iter()
                .position(|disk| disk.server_id == record.server.id)
                .map(|at| disks.swap_remove(at));
            views.push(view(record, disk)?);
        }
        let mut authorities = authorities::certificates(&mut moment, id).await?;
        let mut trusted = |kind| authorities.remove(&kind).unwrap_or_default();
        let world = World {
            now: self.clock.now(),
            started_at: self.started_at,
            store_epoch: self.installation.store_epoch,
            vpc: vpcs::find(&mut moment, instance.vpc_id).await?,
            instance,
            servers: views,
            firewall_enforced: firewalls::are_enforced(
                &firewalls::progress(&mut moment, id).await?,
            ),
            trust: Trust {
                internal: trusted(AuthorityKind::Internal),
                clients: trusted(AuthorityKind::Client),
                server: trusted(AuthorityKind::Server),
                revoked: certificates::revoked(&mut moment, id, self.clock.now()).await?,
            },
            certificate_life: self.settings.certificate_life,
            disk_guards: disk_guards::list(&mut moment, id).await?,
            slowed: disk_guards::slowed(&mut moment, id).await?,
            epoch: 0,
            ticket: tickets::find(&mut moment, id, self.clock.now()).await?,
            is_fenced: false,
            confirmed: HashSet::new(),
            look: None,
            unseen: None,
            leaders_refused: HashSet::new(),
            resize: resizes::find(&mut moment, id).await?,
            placed: None,
            actions,
            unresponsive: HashSet::new(),
        };
        let held = leases::holds(&mut moment, lease, world.now).await?;
        Ok(Some(Observed { world, wakes, paused, held }))
    }
}

fn view(record: ServerRecord, disk: Option<model::Disk>) -> Result<ServerView, PassError> {
    Ok(ServerView {
        disk,
        broker: record.parse_broker()?,
        revision: record.revision,
        desired: record.parse_desired()?,
        report: record.parse_report(),
        report_text: record.report,
        token_expires_at: record.token.map(|token| token.expires_at),
        server: record.server,
    })
}
