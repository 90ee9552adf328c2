//! What runs on this host, and ending all of it in an orderly way.
//!
//! It works from the files alone, so that `castellan down` needs no control
//! plane. It never kills: a broker is given the time that it takes.

use crate::layout::Layout;
use crate::{LocalError, servers};
use host::ProcessId;
use model::ServerId;
use std::path::Path;
use tokio::task::JoinSet;

/// One server with at least one live process.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Running {
    pub server_id: ServerId,
    pub agent: Option<ProcessId>,
    /// What the agent started and recorded: the broker.
    pub brokers: Vec<ProcessId>,
}

/// How many ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Stopped {
    pub agents: usize,
    /// Those whose agent had died before them.
    pub orphaned_brokers: usize,
}

/// Every server that has an agent or a broker running.
pub fn running(data_dir: &Path) -> Result<Vec<Running>, LocalError> {
    if !data_dir.exists() {
        return Ok(Vec::new());
    }
    let mut found = Vec::new();
    for (server_id, directory) in Layout::of(data_dir)?.servers()? {
        let agent = servers::live_agent(&directory)?;
        let brokers = servers::recorded(&directory);
        if agent.is_some() || !brokers.is_empty() {
            found.push(Running { server_id, agent, brokers });
        }
    }
    Ok(found)
}

/// Stops all agents at once, each with its broker, and waits for them however
/// long it takes; then the brokers that had no agent left. `progress` hears
/// what still runs, first and after each end. The control plane must be down
/// before, or it starts them again.
pub async fn stop_all(
    data_dir: &Path,
    mut progress: impl FnMut(&[Running]),
) -> Result<Stopped, LocalError> {
    let agents: Vec<ProcessId> =
        running(data_dir)?.into_iter().filter_map(|server| server.agent).collect();
    let agents = stop(data_dir, agents, &mut progress).await?;
    let left = running(data_dir)?.into_iter().flat_map(|server| server.brokers).collect();
    let orphaned_brokers = stop(data_dir, left, &mut progress).await?;
    Ok(Stopped { agents, orphaned_brokers })
}

async fn stop(
    data_dir: &Path,
    processes: Vec<ProcessId>,
    progress: &mut impl FnMut(&[Running]),
) -> Result<usize, LocalError> {
    let mut ends = JoinSet::new();
    for process in &processes {
        if let Some(watch) = process.watch() {
            ends.spawn(async move { watch.ended().await });
        }
    }
    // One cluster's servers must go together: the last one alone would wait
    // for a quorum that never comes back.
    for process in &processes {
        process.terminate();
    }
    while !ends.is_empty() {
        progress(&running(data_dir)?);
        ends.join_next().await;
    }
    Ok(processes.len())
}
