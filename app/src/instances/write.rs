//! The transaction that saves a new instance: all of it or nothing.

use super::choose::{Chosen, Order};
use super::create::Created;
use super::read::connection_url;
use super::subnet::Occupied;
use crate::idempotency::{self, Repeatable};
use crate::{App, Caller, Error, Placement, Result, audit};
use model::{
    Disk, DiskId, DiskState, Instance, InstanceId, InstanceProgress, Server, ServerId, ServerRole,
    Vpc, VpcId, kafka_uuid,
};
use store::{Work, authorities, disks, instances, servers, vpcs};

const FIRST_STATUS: &str = "waiting for the engine";
/// The quorum has three voters; further servers are brokers only.
const CONTROLLERS: u32 = 3;

/// Why nothing was saved.
pub enum WriteError {
    /// A name or an address is no longer free; choose again.
    Taken,
    Failed(Error),
}

impl From<store::Error> for WriteError {
    fn from(error: store::Error) -> Self {
        match error {
            store::Error::Conflict(_) => WriteError::Taken,
            other => WriteError::Failed(other.into()),
        }
    }
}

impl From<Error> for WriteError {
    fn from(error: Error) -> Self {
        WriteError::Failed(error)
    }
}

/// Saves network, instance, authorities, servers, disks and the audit line, or
/// nothing of it.
pub async fn write(
    caller: &Caller,
    app: &App,
    order: &Order,
    chosen: &Chosen,
    repeatable: Option<&Repeatable>,
) -> std::result::Result<Created, WriteError> {
    let mut work = app.store().begin().await?;
    let vpc = vpc(&mut work, caller, app, order).await?;
    vpcs::insert(&mut work, &vpc).await?;
    let id = InstanceId(work.next("instances").await?);
    instances::insert(&mut work, &instance(caller, app, order, chosen, id, vpc.id)).await?;
    for (kind, authority) in &chosen.authorities {
        authorities::insert(&mut work, id, *kind, &authority.certificate, &authority.key).await?;
    }
    for (number, placement) in (1..).zip(&chosen.placements) {
        let server_id = ServerId(work.next("servers").await?);
        let server = server(order, chosen, placement, id, server_id, number);
        servers::insert(&mut work, &server).await?;
        disks::insert(&mut work, &disk(app, order, id, server_id)).await?;
    }
    let extras = [
        ("id", id.to_string()),
        ("name", order.name.to_string()),
        ("plan", order.plan.name.to_string()),
        ("region", order.region.full_name().to_string()),
    ];
    audit::write(&mut work, caller, app.now(), "instance.create", &extras).await?;
    let created = created(chosen, id);
    idempotency::keep(&mut work, app, repeatable, &created).await?;
    work.commit().await?;
    Ok(created)
}

fn created(chosen: &Chosen, id: InstanceId) -> Created {
    let port = chosen.placements[0].listeners.sasl_scram.port;
    let url = connection_url(&chosen.username, &chosen.password, &chosen.hostname, port);
    Created { id, url, apikey: chosen.apikey.clone() }
}

async fn vpc(work: &mut Work, caller: &Caller, app: &App, order: &Order) -> Result<Vpc> {
    let existing = vpcs::list(work, caller.account_id).await?;
    let occupied = Occupied {
        vpcs: existing.iter().map(|vpc| vpc.subnet).collect(),
        host_networks: app.places.host_networks(),
    };
    let subnet = match order.subnet {
        Some(subnet) => match occupied.refuse(subnet) {
            Some(what) => return Err(Error::field("vpc_subnet", what)),
            None => subnet,
        },
        None => occupied.first_free(app.settings.subnet_pool).ok_or_else(|| {
            Error::Refused("No free subnet is left; give one of your own as vpc_subnet".into())
        })?,
    };
    Ok(Vpc {
        id: VpcId(work.next("vpcs").await?),
        account_id: caller.account_id,
        name: order.name.to_string(),
        region: order.region.full_name(),
        subnet,
        tags: order.tags.clone(),
        provider_id: app.entropy().uuid(),
        made_for_instance: true,
        created_at: app.now(),
    })
}

fn instance(
    caller: &Caller,
    app: &App,
    order: &Order,
    chosen: &Chosen,
    id: InstanceId,
    vpc_id: VpcId,
) -> Instance {
    Instance {
        id,
        account_id: caller.account_id,
        provider_id: app.entropy().uuid(),
        name: order.name.clone(),
        plan: order.plan.name.clone(),
        region: order.region.full_name(),
        nodes: order.plan.nodes,
        kafka_version: order.kafka_version,
        disk_size: order.disk_size,
        tags: order.tags.clone(),
        vpc_id,
        username: chosen.username.clone(),
        password: chosen.password.clone(),
        apikey: chosen.apikey.clone(),
        hostname: chosen.hostname.clone(),
        cluster_id: kafka_uuid(app.entropy()),
        created_at: app.now(),
        deleted_at: None,
        stopped: false,
        generation: 1,
        progress: InstanceProgress { status: FIRST_STATUS.into(), ..Default::default() },
    }
}

fn server(
    order: &Order,
    chosen: &Chosen,
    placement: &Placement,
    instance_id: InstanceId,
    id: ServerId,
    number: u16,
) -> Server {
    let mut roles = vec![ServerRole::Broker];
    if u32::from(number) <= CONTROLLERS {
        roles.push(ServerRole::Controller);
    }
    Server {
        id,
        instance_id,
        number: number.into(),
        node_id: number.into(),
        incarnation: 1,
        roles,
        name: format!("{}-{number:02}", chosen.username),
        kafka_version: order.kafka_version,
        host_id: placement.host_id,
        zone: placement.zone.clone(),
        private_ip: placement.private_ip.clone(),
        listeners: placement.listeners.clone(),
        made: false,
        enrolled_at: None,
        last_seen: None,
        certificate_generation: 1,
    }
}

fn disk(app: &App, order: &Order, instance_id: InstanceId, server_id: ServerId) -> Disk {
    Disk {
        id: DiskId(app.entropy().uuid()),
        instance_id,
        server_id,
        size_gb: order.plan.disk_gb(order.disk_size),
        founding: true,
        directory_id: kafka_uuid(app.entropy()),
        state: DiskState::Planned,
    }
}
