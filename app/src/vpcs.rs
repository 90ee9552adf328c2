//! Private networks: list, read, make, relabel, delete. Where they are and which
//! addresses they hold never changes.

mod create;
mod subnet;
mod update;

pub use create::{NewVpc, create};
pub(crate) use subnet::Occupied;
pub use update::{VpcChanges, update};

use crate::{App, Caller, Error, Result, Right, audit};
use model::{Instance, InstanceId, Region, Subnet, Vpc, VpcId};
use store::{Run, Work};

/// The plan that every network reads as; it is free of charge.
pub const PLAN: &str = "vpc";

/// The network, or "Not Found" alike for one that does not exist, belongs to
/// another account, carries none of the caller's tags, or was deleted.
async fn visible(caller: &Caller, run: &mut impl Run, id: Option<VpcId>) -> Result<Vpc> {
    let id = id.ok_or(Error::NotFound)?;
    let found = store::vpcs::find(run, id).await?;
    found.filter(|vpc| caller.sees_vpc(vpc)).ok_or(Error::NotFound)
}

/// A range for a new network: the one asked for under that name of a field, or
/// a free one of the pool. Looked up in the transaction that writes it, where
/// nobody else can take it.
pub(crate) async fn choose_subnet(
    work: &mut Work,
    caller: &Caller,
    app: &App,
    region: &Region,
    field: &str,
    asked: Option<Subnet>,
) -> Result<Subnet> {
    let occupied = Occupied {
        vpcs: store::vpcs::subnets(work, caller.account_id).await?,
        host_networks: app.cloud(&region.full_name())?.places.host_networks(),
    };
    match asked {
        Some(subnet) => match occupied.refuse(subnet) {
            Some(what) => Err(Error::field(field, what)),
            None => Ok(subnet),
        },
        None => occupied.first_free(app.settings.subnet_pool).ok_or_else(|| {
            Error::Refused(format!("No free subnet is left; give one of your own as {field}"))
        }),
    }
}

/// A network with the instances in it that the caller sees, by id.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct VpcView {
    pub vpc: Vpc,
    pub instances: Vec<InstanceId>,
}

/// By id.
pub async fn list(caller: &Caller, app: &App) -> Result<Vec<VpcView>> {
    caller.may(Right::SeeInstances)?;
    let mut reader = app.store().reader();
    let vpcs = store::vpcs::list(&mut reader, caller.account_id).await?;
    let instances = seen(caller, &mut reader).await?;
    let visible = vpcs.into_iter().filter(|vpc| caller.sees_vpc(vpc));
    Ok(visible.map(|vpc| view(vpc, &instances)).collect())
}

pub async fn read(caller: &Caller, app: &App, id: Option<VpcId>) -> Result<VpcView> {
    caller.may(Right::SeeInstances)?;
    let mut reader = app.store().reader();
    let vpc = visible(caller, &mut reader, id).await?;
    let instances = seen(caller, &mut reader).await?;
    Ok(view(vpc, &instances))
}

async fn seen(caller: &Caller, run: &mut impl Run) -> Result<Vec<Instance>> {
    let mut all = store::instances::list(run, caller.account_id).await?;
    all.retain(|instance| caller.sees(instance));
    Ok(all)
}

fn view(vpc: Vpc, instances: &[Instance]) -> VpcView {
    let inside = instances.iter().filter(|instance| instance.vpc_id == vpc.id);
    VpcView { instances: inside.map(|instance| instance.id).collect(), vpc }
}

/// Deletes a network without instances. From here on nobody sees it, and
/// the engine removes it.
pub async fn delete(caller: &Caller, app: &App, id: Option<VpcId>) -> Result<()> {
    caller.may(Right::CreateInstances)?;
    let mut work = app.store().begin().await?;
    let vpc = visible(caller, &mut work, id).await?;
    let living = store::vpcs::living(&mut work, vpc.id).await?;
    if !living.is_empty() {
        return Err(Error::Refused(in_use(&living)));
    }
    let now = app.now();
    store::vpcs::set_deleted(&mut work, vpc.id, now).await?;
    let extras = [("id", vpc.id.to_string()), ("name", vpc.name)];
    audit::write(&mut work, caller, now, "vpc.delete", &extras).await?;
    Ok(work.commit().await?)
}

fn in_use(living: &[InstanceId]) -> String {
    let ids: Vec<String> = living.iter().map(ToString::to_string).collect();
    match ids.as_slice() {
        [one] => format!("The VPC is in use by instance {one}; delete that first"),
        many => format!("The VPC is in use by instances {}; delete them first", many.join(", ")),
    }
}
