//! Groups as the cluster has them.

use super::{Group, find};
use crate::resources::{Cluster, is_own_group};
use crate::{App, InstanceAccess, Result};

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
