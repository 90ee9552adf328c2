//! Private networks: list, read, make, relabel, delete. Where they are and which
//! addresses they hold never changes.

mod create;
mod delete;
mod read;
mod subnet;
mod update;

pub use create::{NewVpc, create};
pub use delete::delete;
pub use read::{VpcView, list, read};
pub use update::{VpcChanges, update};

pub(crate) use subnet::Occupied;

use crate::{App, Caller, Error, Result};
use model::{Subnet, Vpc, VpcId};
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
    field: &str,
    asked: Option<Subnet>,
) -> Result<Subnet> {
    let occupied = Occupied {
        vpcs: store::vpcs::subnets(work, caller.account_id).await?,
        host_networks: app.places.host_networks(),
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
