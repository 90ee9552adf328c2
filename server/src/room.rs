//! Whether this host can hold one more instance.
//!
//! A server's memory is counted as what its processes take for themselves: the
//! broker's heap and what the JVM needs beside it. The rest of a plan's memory
//! is page cache, which all servers of a host share and none has to itself.
//! Disks are directories of one file system, and take of it what is written: a
//! plan's size is not set aside. But nothing is begun where producers would be
//! slowed down at once, because as much of a disk of that size has to stay free.

use crate::config::Config;
use crate::data_dir::DataDir;
use crate::host_facts;
use crate::installation::Opened;
use app::{Growth, NoRoom};
use async_trait::async_trait;
use kafka::render::heap_mb;
use model::{Catalogue, HostId, Plan, PlanName};
use std::path::PathBuf;
use std::sync::Arc;
use store::Store;

/// A JVM takes about this beside its heap, with its agent: classes, compiled
/// code, threads, network buffers.
const BESIDE_HEAP_MB: u64 = 320;
/// Kept for the system and the control plane: a sixteenth, but at least this.
const RESERVE_MB: u64 = 1024;
/// Formatted, empty, with Kafka's own topics, its ballast and room for a first segment.
const DISK_EACH_MB: u64 = 1024;
/// What has to stay free of a disk, or its producers are slowed down. All disks of a host
/// share one file system, so that it counts once for all servers of a create.
const FREE_PERCENT: u64 = 5;

/// Asks the host and the store.
pub struct Room {
    pub store: Store,
    pub catalogue: Arc<Catalogue>,
    pub host_id: HostId,
    /// Where disks are made.
    pub data: PathBuf,
    pub max_heap_mb: Option<u32>,
    /// Of the host; unknown, it refuses nothing.
    pub memory_mb: Option<u64>,
}

#[async_trait]
impl app::Room for Room {
    async fn check(&self, plan: &Plan, disk_gb: u32) -> Result<(), NoRoom> {
        let question = self.question(plan, disk_gb, &self.promised().await?);
        question.answer(&plan.name).map_err(NoRoom::Refused)
    }

    async fn check_growth(&self, growth: &Growth<'_>) -> Result<(), NoRoom> {
        let question = self.question_of_growth(growth, &self.promised().await?);
        question.answer(&growth.plan.name).map_err(NoRoom::Refused)
    }
}

impl Room {
    /// The room of this host.
    pub fn new(
        data: &DataDir,
        config: &Config,
        catalogue: Arc<Catalogue>,
        opened: &Opened,
    ) -> Self {
        Self {
            store: opened.store.clone(),
            catalogue,
            host_id: opened.host_id,
            data: data.host(),
            max_heap_mb: config.local.max_heap_mb,
            memory_mb: host_facts::memory_mb(),
        }
    }

    /// The plans of the servers on this host, and how many servers each has.
    pub async fn promised(&self) -> store::Result<Vec<(PlanName, u32)>> {
        store::servers::plans_on(&mut self.store.reader(), self.host_id).await
    }

    /// Memory that is neither promised to servers nor kept for the host; none if the host does
    /// not say how much it has.
    pub fn spare_mb(&self, promised: &[(PlanName, u32)]) -> Option<u64> {
        let promised_mb = promised.iter().map(|promise| self.promised_mb(promise)).sum();
        self.memory_mb.map(|memory| left_mb(memory, promised_mb))
    }

    fn question(&self, plan: &Plan, disk_gb: u32, promised: &[(PlanName, u32)]) -> Question {
        Question {
            servers: u64::from(plan.nodes),
            new_servers: u64::from(plan.nodes),
            each_mb: self.takes_mb(Some(plan)),
            promised_servers: promised.iter().map(|(_, servers)| u64::from(*servers)).sum(),
            promised_mb: promised.iter().map(|promise| self.promised_mb(promise)).sum(),
            memory_mb: self.memory_mb,
            disk_mb: u64::from(disk_gb) * 1024,
            file_system: host_facts::file_system_mb(&self.data),
        }
    }

    /// What is promised to the instance now is given back. A change that takes no more than it
    /// has is never refused, however little there is.
    fn question_of_growth(&self, growth: &Growth<'_>, promised: &[(PlanName, u32)]) -> Question {
        let Growth { from, servers_before, plan, disk_before, disk_gb } = *growth;
        let whole = self.question(plan, disk_gb, promised);
        let before_mb = self.takes_mb(from) * u64::from(servers_before);
        let takes_more = whole.servers * whole.each_mb > before_mb;
        let new = plan.nodes.saturating_sub(servers_before);
        let grows = new > 0 || disk_gb > disk_before;
        Question {
            promised_servers: whole.promised_servers.saturating_sub(servers_before.into()),
            promised_mb: whole.promised_mb.saturating_sub(before_mb),
            memory_mb: whole.memory_mb.filter(|_| takes_more),
            new_servers: new.into(),
            file_system: whole.file_system.filter(|_| grows),
            ..whole
        }
    }

    fn promised_mb(&self, (plan, servers): &(PlanName, u32)) -> u64 {
        self.takes_mb(self.catalogue.plan(&plan.0)) * u64::from(*servers)
    }

    /// What one server takes. A plan that left the catalogue counts least.
    fn takes_mb(&self, plan: Option<&Plan>) -> u64 {
        let memory_mb = plan.map_or(0, |plan| plan.family.memory_gb.saturating_mul(1024));
        u64::from(heap_mb(memory_mb, self.max_heap_mb)) + BESIDE_HEAP_MB
    }
}

/// Everything the answer depends on.
#[derive(Clone, Copy, Debug)]
struct Question {
    servers: u64,
    /// Those of them that are not there yet.
    new_servers: u64,
    each_mb: u64,
    promised_servers: u64,
    promised_mb: u64,
    memory_mb: Option<u64>,
    /// Of one server: its plan's, or a larger one that was asked for.
    disk_mb: u64,
    /// Where disks are: what is free, and all of it.
    file_system: Option<(u64, u64)>,
}

impl Question {
    fn answer(&self, plan: &PlanName) -> Result<(), String> {
        self.memory(plan)?;
        self.disk(plan)
    }

    fn memory(&self, plan: &PlanName) -> Result<(), String> {
        let Some(memory) = self.memory_mb else { return Ok(()) };
        let Self { servers, each_mb, promised_servers, promised_mb, .. } = *self;
        let (reserve, left) = (reserve_mb(memory), left_mb(memory, promised_mb));
        let needed = servers * each_mb;
        if needed <= left {
            return Ok(());
        }
        Err(format!(
            "This host can't hold {plan}: {servers} servers of {each_mb} MiB need {needed} MiB of \
             memory, and {left} MiB are left ({memory} MiB, less {promised_mb} MiB promised to \
             {promised_servers} servers and {reserve} MiB kept for the host); choose a smaller \
             plan, delete an instance, or set overcommit = true under [local] in the config file"
        ))
    }

    fn disk(&self, plan: &PlanName) -> Result<(), String> {
        let Some((free, total)) = self.file_system else { return Ok(()) };
        let Self { new_servers: servers, disk_mb, .. } = *self;
        // Some file systems don't say how large they are.
        let whole = if total == 0 { disk_mb } else { disk_mb.min(total) };
        let stays = whole * FREE_PERCENT / 100;
        let needed = servers * DISK_EACH_MB + stays;
        if needed <= free {
            return Ok(());
        }
        Err(format!(
            "This host can't hold {plan}: {needed} MiB of disk are needed ({DISK_EACH_MB} MiB for \
             each of {servers} servers to begin with, and once for all {stays} MiB that stay free, \
             or producers are slowed down), and {free} MiB are free; free some space, delete an \
             instance, or set overcommit = true under [local] in the config file"
        ))
    }
}

/// Of that much memory for the system and the control plane.
fn reserve_mb(memory: u64) -> u64 {
    (memory / 16).max(RESERVE_MB)
}

fn left_mb(memory: u64, promised_mb: u64) -> u64 {
    memory.saturating_sub(reserve_mb(memory)).saturating_sub(promised_mb)
}

#[cfg(test)]
mod tests;
