//! Quotas as the cluster has them.

use super::Quota;
use crate::resources::Cluster;
use crate::{App, InstanceAccess, Result};

/// By user, then by client id.
pub async fn list(access: &InstanceAccess, app: &App) -> Result<Vec<Quota>> {
    let cluster = Cluster::of_its_own(access, app).await?;
    cluster.ask(|admin, at| admin.quotas().list_quotas(at)).await
}
