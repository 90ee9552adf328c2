//! The end of a group and of what it has committed.

use super::find;
use crate::resources::{Cluster, change};
use crate::{App, InstanceAccess, Result};

/// Kafka refuses it while the group has members.
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
