//! Consumer groups of a cluster.

mod chosen;
mod delete;
mod read;
mod reset;

pub use delete::delete;
pub use kafka::client::groups::{Assignment, Group, GroupOffset, Member, Moved};
pub use read::{list, read};
pub use reset::{Reset, reset};

use crate::resources::{Cluster, is_own_group};
use crate::{App, Error, InstanceAccess, Result};

/// The group, if it is there and the caller's.
async fn find(
    access: &InstanceAccess,
    app: &App,
    cluster: &Cluster<'_>,
    name: &str,
) -> Result<Group> {
    if !is_own_group(access, app, name) {
        return Err(Error::NotFound);
    }
    let found = cluster.ask(|admin, at| admin.groups().describe_group(at, name)).await?;
    found.ok_or(Error::NotFound)
}
