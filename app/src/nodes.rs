//! The servers of a cluster, as they say they are.

use crate::access::ready;
use crate::resources::Cluster;
use crate::{App, InstanceAccess, Result};
use model::Server;
use std::collections::HashMap;
use store::{disks, servers};

const GB: i64 = 1024 * 1024 * 1024;

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Node {
    pub server: Server,
    /// Its broker answers.
    pub running: bool,
    /// It is as it should be: no change is under way, of servers or of its disk.
    pub configured: bool,
    /// GB.
    pub disk_size: u32,
    pub additional_disk_size: u32,
    pub disk_used: i64,
}

/// By number. Each is asked for itself; one that does not answer soon does not
/// run.
pub async fn list(access: &InstanceAccess, app: &App) -> Result<Vec<Node>> {
    let id = access.instance.id;
    let mut reader = app.store().reader();
    let servers = servers::list_bare(&mut reader, id).await?;
    let disks = disks::list(&mut reader, id).await?;
    let used = used(access, app).await?;
    let plan = app.catalogue.plan(&access.instance.plan.0);
    let of_plan = plan.map_or(0, |plan| plan.family.disk_gb);
    let configured = access.instance.configured();
    let node = |server: Server| {
        let disk = disks.iter().find(|disk| disk.server_id == server.id);
        let disk_size = disk.map_or(of_plan, |disk| disk.size_gb);
        let bytes = used.get(&server.node_id).copied();
        Node {
            server,
            running: bytes.is_some(),
            configured: configured && disk.is_none_or(|disk| !disk.is_to_grow()),
            disk_size,
            additional_disk_size: disk_size.saturating_sub(of_plan),
            disk_used: bytes.unwrap_or_default(),
        }
    };
    Ok(servers.into_iter().map(node).collect())
}

/// GB in logs, of each that answers.
async fn used(access: &InstanceAccess, app: &App) -> Result<HashMap<i32, i64>> {
    if ready(&access.instance).is_err() {
        return Ok(HashMap::new());
    }
    let cluster = Cluster::open(access, app).await?;
    let answers = cluster.log_dirs().await.into_iter();
    Ok(answers
        .map(|(server, directories)| {
            let copies = directories.iter().flat_map(|directory| &directory.replicas);
            let bytes: i64 = copies.map(|copy| copy.bytes).sum();
            (server.node_id, (bytes + GB / 2) / GB)
        })
        .collect())
}
