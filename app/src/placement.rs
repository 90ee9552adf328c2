//! Where the replicas of a cluster are, asked of its brokers before anything about its servers
//! is changed, and told with the names that people know.

use crate::{App, Error, Result};
use model::{DISK_GB, Instance, Server};
use mover::{Broker, Cluster, Refusal};
use reach::Ours;
use std::collections::BTreeMap;

/// The cluster as the mover takes it.
pub(crate) struct Placement {
    pub cluster: Cluster,
    /// The names of servers by their node ids.
    names: BTreeMap<i32, String>,
}

/// Asks the brokers. `leaving` are to have no replicas afterwards, and each server has a disk
/// of so many gigabytes.
pub(crate) async fn read(
    app: &App,
    instance: &Instance,
    servers: &[Server],
    leaving: &[&Server],
    disk_gb: u32,
) -> Result<Placement> {
    let ours = Ours {
        leaving: leaving.iter().map(|server| server.node_id).collect(),
        disk_bytes: servers.iter().map(|server| (server.node_id, bytes(disk_gb))).collect(),
    };
    let read = app.reach().placement(instance.id, servers, &ours).await.map_err(unread)?;
    let names = servers.iter().map(|server| (server.node_id, server.name.clone())).collect();
    Ok(Placement { cluster: read.cluster, names })
}

fn unread(error: reach::Error) -> Error {
    match error {
        reach::Error::Kafka(error) => Error::Refused(format!(
            "Nothing was changed, because no broker tells where replicas are: {error}"
        )),
        reach::Error::Store(error) => error.into(),
        error => Error::internal(error),
    }
}

fn bytes(disk_gb: u32) -> u64 {
    u64::from(disk_gb) * DISK_GB
}

impl Placement {
    /// With a server that is not there yet, and has an empty disk of so many gigabytes.
    pub fn add(&mut self, node: i32, name: String, zone: String, disk_gb: u32) {
        self.cluster.brokers.push(Broker {
            node,
            rack: Some(zone),
            disk_bytes: bytes(disk_gb),
            free_bytes: bytes(disk_gb),
            is_leaving: false,
            is_up: true,
        });
        self.names.insert(node, name);
    }

    /// What a server is called.
    pub fn name(&self, node: i32) -> String {
        self.names.get(&node).cloned().unwrap_or_else(|| format!("broker {node}"))
    }

    /// A refusal, for people who know servers by their names.
    pub fn said(&self, refusal: &Refusal) -> String {
        match refusal {
            Refusal::DisksTooSmall { rooms, .. } => {
                let known =
                    rooms.iter().map(|room| format!("{} is {}", room.node, self.name(room.node)));
                format!("{refusal} (broker {})", known.collect::<Vec<_>>().join(", "))
            }
            other => other.to_string(),
        }
    }
}
