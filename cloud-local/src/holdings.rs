//! Everything of ours on this host, as the files and processes show it, and
//! taking away one thing of it by an operator's word.
//!
//! Like [`crate::running`], it needs no control plane. Whether a thing should be
//! is not known here; nobody but a person decides to remove what the store does
//! not know.

use crate::layout::{Layout, remove};
use crate::running::{Running, of_layout, stop};
use crate::{LocalError, disks, servers, vpcs};
use model::{DiskId, InstanceId, ServerId, VpcId};
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

/// What lies and runs in a data directory.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Holdings {
    pub servers: Vec<HeldServer>,
    pub disks: Vec<HeldDisk>,
    pub networks: Vec<VpcId>,
}

/// A server that has a directory, a process, or both.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct HeldServer {
    pub id: ServerId,
    /// None if its directory is gone or half made.
    pub instance_id: Option<InstanceId>,
    /// Of its agent; none as above.
    pub incarnation: Option<i64>,
    pub running: Option<Running>,
    pub path: PathBuf,
}

/// A disk that carries its own marker.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct HeldDisk {
    pub id: DiskId,
    pub instance_id: InstanceId,
    pub server_id: ServerId,
    pub path: PathBuf,
}

/// Looks at everything there is.
pub fn holdings(data_dir: &Path) -> Result<Holdings, LocalError> {
    if !data_dir.exists() {
        return Ok(Holdings::default());
    }
    let layout = Layout::of(data_dir)?;
    let disks = layout.disks()?.into_iter().filter_map(|(id, path)| {
        let marker = disks::marker(&path).filter(|marker| marker.disk_id == id)?;
        Some(HeldDisk { id, instance_id: marker.instance_id, server_id: marker.server_id, path })
    });
    Ok(Holdings {
        servers: held_servers(&layout)?,
        disks: disks.collect(),
        networks: layout.networks()?.into_iter().map(|(id, _)| id).collect(),
    })
}

fn held_servers(layout: &Layout) -> Result<Vec<HeldServer>, LocalError> {
    let mut running = of_layout(layout)?;
    let mut ids: Vec<ServerId> = layout.servers()?.into_iter().map(|(id, _)| id).collect();
    ids.extend(running.iter().map(|server| server.server_id));
    ids.sort();
    ids.dedup();
    let held = ids.into_iter().map(|id| {
        let path = layout.server(id);
        let at = running.iter().position(|server| server.server_id == id);
        let record = servers::Record::load(&path);
        HeldServer {
            id,
            instance_id: record.as_ref().map(|record| record.instance_id),
            incarnation: record.as_ref().map(|record| record.incarnation),
            running: at.map(|at| running.swap_remove(at)),
            path,
        }
    });
    Ok(held.collect())
}

/// Whether a server or a disk of the instance is here.
pub(crate) fn has_any(layout: &Layout, instance: InstanceId) -> Result<bool, LocalError> {
    let mut servers = layout.servers()?.into_iter();
    let mut disks = layout.disks()?.into_iter();
    let of_server = |path: &Path| servers::Record::load(path).map(|record| record.instance_id);
    let of_disk = |path: &Path| disks::marker(path).map(|marker| marker.instance_id);
    Ok(servers.any(|(_, path)| of_server(&path) == Some(instance))
        || disks.any(|(_, path)| of_disk(&path) == Some(instance)))
}

/// The room that everything under a path takes. What can't be read counts as
/// nothing.
pub fn bytes_under(path: &Path) -> u64 {
    let Ok(found) = fs::symlink_metadata(path) else { return 0 };
    // Sparse files, such as Kafka's indexes, take less than their length.
    let own = found.blocks() * 512;
    if !found.is_dir() {
        return own;
    }
    let entries = fs::read_dir(path).into_iter().flatten().flatten();
    own + entries.map(|entry| bytes_under(&entry.path())).sum::<u64>()
}

/// Ends a server in an orderly way, however long its broker takes, and removes
/// its directory. Its disk stays. The control plane must be down.
pub async fn remove_server(data_dir: &Path, id: ServerId) -> Result<(), LocalError> {
    let layout = Layout::of(data_dir)?;
    loop {
        let found = of_layout(&layout)?.into_iter().find(|server| server.server_id == id);
        let Some(Running { agent, brokers, .. }) = found else { break };
        // An agent takes its broker along; without one the broker is told itself.
        let processes = agent.map_or(brokers, |agent| vec![agent]);
        stop(data_dir, processes, &mut |_| {}).await?;
    }
    let instance = servers::Record::load(&layout.server(id)).map(|record| record.instance_id);
    if !servers::end_processes(&layout, id, instance).await {
        return Err(LocalError::StillEnding(id));
    }
    servers::remove_all(&layout, id)
}

/// Removes a disk with all data on it, unless a server has it.
pub fn remove_disk(data_dir: &Path, id: DiskId) -> Result<(), LocalError> {
    disks::remove_disk(&Layout::of(data_dir)?, id)
}

pub fn remove_network(data_dir: &Path, id: VpcId) -> Result<(), LocalError> {
    let layout = Layout::of(data_dir)?;
    vpcs::remove(&layout, id)?;
    remove(&layout.network(id))
}
