//! Consumer groups of a cluster.

mod chosen;
mod reset;

pub use kafka::client::groups::{Assignment, Group, GroupOffset, Member, Moved};
pub use reset::{Reset, reset};

use crate::resources::{Cluster, change, is_own_group};
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

/// By name.
pub async fn list(access: &InstanceAccess, app: &App) -> Result<Vec<Group>> {
    let cluster = Cluster::open(access, app).await?;
    let mut groups = cluster.ask(|admin, at| admin.groups().list_groups(at)).await?;
    groups.retain(|group| is_own_group(access, app, &group.view.name));
    Ok(groups)
}

pub async fn read(access: &InstanceAccess, app: &App, name: &str) -> Result<Group> {
    let cluster = Cluster::open(access, app).await?;
    find(access, app, &cluster, name).await
}

/// Deletes a group and what it has committed. Kafka refuses it while the group has members.
pub async fn delete(access: &InstanceAccess, app: &App, name: &str) -> Result<()> {
    access.may_change()?;
    let cluster = Cluster::open(access, app).await?;
    find(access, app, &cluster, name).await?;
    let about = [("group", name.to_owned())];
    // One that is gone by now was deleted by a call whose answer got lost, or by
    // somebody else, to the same end.
    let see = format!("GET groups/{name} tells whether it is there; if it is, delete it again");
    let effect = cluster.alter(
        &see,
        |admin, at| admin.groups().delete_group(at, name),
        |admin, at| async move { Ok(admin.groups().describe_group(at, name).await?.is_none()) },
    );
    change(access, app, "group.delete", &about, effect).await.map(drop)
}
