//! What runs on this host, and ending all of it in an orderly way.
//!
//! It works from the files and from the mark in each process's environment, so
//! that `castellan down` needs no control plane and misses nothing that a crash
//! left off the record. A broker is given the time that it takes; one is killed
//! only where its data goes with it.

use crate::layout::Layout;
use crate::{LocalError, SERVER_VARIABLE, limits, servers, strays};
use host::ProcessId;
use model::ServerId;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::{Duration, Instant};
use tokio::task::JoinSet;

/// How long one that ended may be counted in its group.
const PATIENCE: Duration = Duration::from_secs(5);
const GLANCE: Duration = Duration::from_millis(10);

/// One server with at least one live process.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Running {
    pub server_id: ServerId,
    pub agent: Option<ProcessId>,
    /// What else runs for that server, recorded or not: the broker.
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
    of_layout(&Layout::of(data_dir)?)
}

pub(crate) fn of_layout(layout: &Layout) -> Result<Vec<Running>, LocalError> {
    let mut marked = marked(layout);
    for (server, _) in layout.servers()? {
        marked.entry(server).or_default();
    }
    let mut found = Vec::new();
    for (server_id, mut brokers) in marked {
        let directory = layout.server(server_id);
        let agent = servers::live_agent(&directory);
        for recorded in servers::recorded(&directory) {
            if !brokers.contains(&recorded) {
                brokers.push(recorded);
            }
        }
        brokers.retain(|broker| agent.as_ref() != Some(broker));
        if agent.is_some() || !brokers.is_empty() {
            found.push(Running { server_id, agent, brokers });
        }
    }
    Ok(found)
}

/// The processes with the mark of a server of this data directory, also of one
/// whose own directory is gone.
fn marked(layout: &Layout) -> BTreeMap<ServerId, Vec<ProcessId>> {
    let mut found: BTreeMap<ServerId, Vec<ProcessId>> = BTreeMap::new();
    for (value, process) in host::with_variable(SERVER_VARIABLE) {
        let directory = PathBuf::from(value);
        let name = directory.file_name().and_then(|name| name.to_str());
        let Some(server) = name.and_then(|name| name.parse().ok()) else { continue };
        if layout.server(server) == directory && servers::is_of(&directory, &process) {
            found.entry(server).or_default().push(process);
        }
    }
    found
}

/// Stops all agents at once, each with its broker, and waits for them however
/// long it takes; then the brokers that had no agent left, until nothing runs. What
/// tenants' code has started besides is killed last.
/// `progress` hears what still runs, first and after each end. The control
/// plane must be down before, or it starts them again.
pub async fn stop_all(
    data_dir: &Path,
    mut progress: impl FnMut(&[Running]),
) -> Result<Stopped, LocalError> {
    let agents: Vec<ProcessId> =
        running(data_dir)?.into_iter().filter_map(|server| server.agent).collect();
    let agents = stop(data_dir, agents, &mut progress).await?;
    let mut stopped = Stopped { agents, orphaned_brokers: 0 };
    loop {
        let left = running(data_dir)?;
        if left.is_empty() {
            end_strays(data_dir).await?;
            return Ok(stopped);
        }
        // An agent without a record ends with these, and its broker may be
        // seen only then.
        let left =
            left.into_iter().flat_map(|server| server.agent.into_iter().chain(server.brokers));
        stopped.orphaned_brokers += stop(data_dir, left.collect(), &mut progress).await?;
    }
}

/// Removes the control groups of all servers, which must have ended. Blocks for a moment.
pub fn remove_groups(data_dir: &Path) -> Result<(), LocalError> {
    if !data_dir.exists() {
        return Ok(());
    }
    let layout = Layout::of(data_dir)?;
    let deadline = Instant::now() + PATIENCE;
    for (server, _) in layout.groups()? {
        loop {
            match limits::forget(&layout, server) {
                Err(LocalError::StillEnding(_)) if Instant::now() < deadline => sleep(GLANCE),
                other => break other?,
            }
        }
    }
    Ok(())
}

/// Ends everything at once, for servers whose data is removed next. Answers how
/// many servers had something running.
pub async fn kill_all(data_dir: &Path) -> Result<usize, LocalError> {
    let first = running(data_dir)?;
    let count = first.len();
    let mut left = first;
    while !left.is_empty() {
        // Agents first: each would start its broker again.
        for server in &left {
            for process in server.agent.iter().chain(&server.brokers) {
                process.kill();
            }
        }
        for process in left.iter().flat_map(|server| server.agent.iter().chain(&server.brokers)) {
            if let Some(watch) = process.watch() {
                watch.ended().await;
            }
        }
        left = running(data_dir)?;
    }
    end_strays(data_dir).await?;
    Ok(count)
}

async fn end_strays(data_dir: &Path) -> Result<(), LocalError> {
    if data_dir.exists() { strays::end_all(&Layout::of(data_dir)?).await } else { Ok(()) }
}

pub(crate) async fn stop(
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
