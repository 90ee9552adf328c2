//! Who may come.

use super::{User, everybody};
use crate::resources::Cluster;
use crate::{App, InstanceAccess, Result};

/// By name; the default user is one of them.
pub async fn list(access: &InstanceAccess, app: &App) -> Result<Vec<User>> {
    let cluster = Cluster::of_its_own(access, app).await?;
    everybody(&cluster, app, access.instance.id).await
}
