//! The transaction that saves a new instance: all of it or nothing.

use super::choose::{Chosen, Network, Order, hostname, settle};
use super::create::Created;
use super::read::connection_url;
use super::rows::{self, newcomers};
use crate::idempotency::{self, Repeatable};
use crate::vpcs::choose_subnet;
use crate::{App, Caller, Error, Place, Result, alarms, audit, history, limits};
use model::condition::since_when;
use model::{
    ActionKind, Instance, InstanceId, InstanceProgress, Membership, Reason, ServerId, Subnet, Vpc,
    VpcId, kafka_uuid,
};
use std::collections::BTreeMap;
use store::{NewAction, Work, accounts, actions, authorities, disks, instances, servers, vpcs};

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

/// Saves network, instance, its history, alarms, authorities, servers, disks, audit line
/// and action, or nothing of it.
pub async fn write(
    caller: &Caller,
    app: &App,
    order: &Order,
    chosen: &Chosen,
    places: Vec<Place>,
    repeatable: Option<&Repeatable>,
) -> std::result::Result<Created, WriteError> {
    let mut work = app.store().begin().await?;
    limits::check_instance(&mut work, app, caller.account_id, order).await?;
    let id = InstanceId(work.next("instances").await?);
    let vpc_id = match order.network {
        Network::Join(vpc) => join(&mut work, caller, order, vpc).await?,
        Network::Make(subnet) => make_vpc(&mut work, caller, app, order, subnet, id).await?,
    };
    let places = settle(app, &mut work, &order.region.full_name(), vpc_id, places).await?;
    let hostname = hostname(app, chosen, &places);
    let instance = instance(caller, app, order, chosen, hostname, id, vpc_id);
    instances::insert(&mut work, &instance).await?;
    history::created(&mut work, app, &instance).await?;
    let account = accounts::find(&mut work, caller.account_id).await?.ok_or(Error::InvalidId)?;
    alarms::set_up(&mut work, &instance, order.plan.shared(), &account.email).await?;
    for (kind, authority) in &chosen.authorities {
        authorities::insert(&mut work, id, *kind, &authority.certificate, &authority.key).await?;
    }
    let size_gb = order.plan.disk_gb(order.disk_size);
    let newcomers = newcomers(&[], places.len());
    for ((newcomer, place), node_id) in newcomers.iter().zip(&places).zip(1..) {
        let ids = (ServerId(work.next("servers").await?), node_id);
        let server = rows::server(&instance, place, newcomer, ids, Membership::Member);
        servers::insert(&mut work, &server).await?;
        disks::insert(&mut work, &rows::disk(app, &server, size_gb, true)).await?;
    }
    let extras = [
        ("id", id.to_string()),
        ("name", order.name.to_string()),
        ("plan", order.plan.name.to_string()),
        ("region", order.region.full_name().to_string()),
    ];
    audit::write(&mut work, caller, app.now(), "instance.create", &extras).await?;
    begin_journal(&mut work, caller, &instance).await?;
    let created = created(chosen, &instance.hostname, &places[0], id);
    idempotency::keep(&mut work, app, repeatable, &created).await?;
    work.commit().await?;
    Ok(created)
}

async fn begin_journal(work: &mut Work, caller: &Caller, instance: &Instance) -> Result<()> {
    let action = NewAction {
        instance_id: instance.id,
        kind: ActionKind::Create,
        servers: &[],
        asked_by: &caller.email,
        source: caller.source.to_string(),
        generation: instance.generation,
    };
    actions::insert(work, &action, instance.created_at).await?;
    Ok(())
}

fn created(chosen: &Chosen, hostname: &str, first: &Place, id: InstanceId) -> Created {
    let port = first.addresses.listeners.public_sasl_scram().port;
    let url = connection_url(&chosen.username, &chosen.password, hostname, port);
    Created { id, url, apikey: chosen.apikey.clone() }
}

/// The network that was named, if it is the caller's and where the instance
/// shall be. It can't go before the instance in it is written.
async fn join(work: &mut Work, caller: &Caller, order: &Order, id: VpcId) -> Result<VpcId> {
    let found = vpcs::find(work, id).await?.filter(|vpc| caller.sees_vpc(vpc));
    let Some(vpc) = found else {
        return Err(Error::field("vpc_id", "is no VPC of yours; GET /api/vpcs lists them"));
    };
    let region = order.region.full_name();
    if vpc.region != region {
        let what = format!("is in region {}, and the instance would be in {region}", vpc.region);
        return Err(Error::field("vpc_id", what));
    }
    Ok(vpc.id)
}

async fn make_vpc(
    work: &mut Work,
    caller: &Caller,
    app: &App,
    order: &Order,
    asked: Option<Subnet>,
    made_for: InstanceId,
) -> Result<VpcId> {
    limits::check_vpc(work, app, caller.account_id).await?;
    let subnet = choose_subnet(work, caller, app, &order.region, "vpc_subnet", asked).await?;
    let vpc = Vpc {
        id: VpcId(work.next("vpcs").await?),
        account_id: caller.account_id,
        name: order.name.to_string(),
        region: order.region.full_name(),
        subnet,
        tags: order.tags.clone(),
        provider_id: app.entropy().uuid(),
        made_for: Some(made_for),
        created_at: app.now(),
        deleted_at: None,
    };
    vpcs::insert(work, &vpc).await?;
    Ok(vpc.id)
}

fn instance(
    caller: &Caller,
    app: &App,
    order: &Order,
    chosen: &Chosen,
    hostname: String,
    id: InstanceId,
    vpc_id: VpcId,
) -> Instance {
    let conditions = since_when(vec![Reason::Created.into()], &[], app.now());
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
        no_default_alarms: order.no_default_alarms,
        username: chosen.username.clone(),
        password: chosen.password.clone(),
        apikey: chosen.apikey.clone(),
        hostname,
        cluster_id: kafka_uuid(app.entropy()),
        created_at: app.now(),
        deleted_at: None,
        stopped: false,
        generation: 1,
        settings: BTreeMap::new(),
        kafka_generation: 0,
        progress: InstanceProgress { conditions, ..Default::default() },
    }
}
