//! A server's directory and the processes that belong to it.
//!
//! A process belongs to a server if its identity is recorded in `agent.pid` or
//! `run/*.pid`, or if it has the server's mark in its environment, and if it runs as the
//! user whose directory that is; or if it is a stray (see `strays`). No other process is ever
//! signalled.
//!
//! The directory belongs to the uid of its instance, whose processes may write anything
//! there. So nothing in it is believed but `server.json`, which is ours, and no link in
//! it is followed.

use crate::layout::{Layout, remove, remove_whole};
use crate::{LocalError, Options, SERVER_VARIABLE, kept_logs, limits, strays};
use cloud::ServerSpec;
use host::{Exit, ProcessId, Spawn};
use model::{DiskId, InstanceId, Secret, ServerId};
use serde::{Deserialize, Serialize};
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::time::Duration;
use tokio::time::{Instant, sleep};
use wire::agent::{AgentStart, SERVER_RECORD as RECORD};

/// How long one call waits for killed processes to be gone.
const PATIENCE: Duration = Duration::from_secs(3);
const GLANCE: Duration = Duration::from_millis(10);

const START: &str = "start.json";
const AGENT: &str = "agent.pid";

/// `server.json`: what the directory was made for.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct Record {
    pub(crate) server_id: ServerId,
    pub(crate) instance_id: InstanceId,
    pub(crate) incarnation: i64,
    pub(crate) disk_id: DiskId,
}

impl Record {
    pub(crate) fn load(directory: &Path) -> Option<Self> {
        serde_json::from_slice(&host::read_own(directory, Path::new(RECORD)).ok()?).ok()
    }

    fn of(spec: &ServerSpec) -> Self {
        Self {
            server_id: spec.id,
            instance_id: spec.instance_id,
            incarnation: spec.incarnation,
            disk_id: spec.disk_id,
        }
    }
}

/// Writes the directory's files where they differ. The record is last: with
/// it, the directory is whole.
pub(crate) fn prepare(
    layout: &Layout,
    spec: &ServerSpec,
    options: &Options,
    uid: Option<u32>,
) -> Result<(), LocalError> {
    let directory = layout.server(spec.id);
    host::create_private_dir(&directory).map_err(LocalError::at(&directory))?;
    kept_logs::put_back(layout, spec.disk_id, &directory);
    let link = directory.join("disk");
    let target = PathBuf::from("../../disks").join(spec.disk_id.to_string());
    if fs::read_link(&link).ok().as_ref() != Some(&target) {
        remove(&link)?;
        symlink(&target, &link).map_err(LocalError::at(&link))?;
    }
    let token = spec.token.clone().or_else(|| token_of(&directory, spec.incarnation));
    write_start(&directory, spec.id, spec.incarnation, token, options, uid)?;
    let record = Record::of(spec);
    if Record::load(&directory).as_ref() != Some(&record) {
        let text = serde_json::to_vec_pretty(&record).expect("plain data serialises");
        let path = directory.join(RECORD);
        clear_directory(&path)?;
        host::write_atomic(&path, &text).map_err(LocalError::at(&path))?;
    }
    Ok(())
}

/// Tells a server that exists where the control plane is now.
pub(crate) fn refresh_start(
    directory: &Path,
    record: &Record,
    options: &Options,
    uid: Option<u32>,
) -> Result<(), LocalError> {
    let Some(token) = load_start(directory).map(|start| start.token) else { return Ok(()) };
    write_start(directory, record.server_id, record.incarnation, token, options, uid)
}

fn load_start(directory: &Path) -> Option<AgentStart> {
    serde_json::from_slice(&host::read_beneath(directory, Path::new(START)).ok()?).ok()
}

/// The token that this incarnation was given before.
fn token_of(directory: &Path, incarnation: i64) -> Option<Secret> {
    load_start(directory).filter(|start| start.incarnation == incarnation)?.token
}

fn write_start(
    directory: &Path,
    server_id: ServerId,
    incarnation: i64,
    token: Option<Secret>,
    options: &Options,
    uid: Option<u32>,
) -> Result<(), LocalError> {
    let start = AgentStart {
        server_id,
        incarnation,
        control_plane: options.control_plane.clone(),
        fleet_ca: options.fleet_ca.clone(),
        token,
        host: options.host.clone(),
        uid,
    };
    let text = serde_json::to_vec_pretty(&start).expect("plain data serialises");
    let path = directory.join(START);
    if host::read_beneath(directory, Path::new(START)).is_ok_and(|present| present == text) {
        return Ok(());
    }
    clear_directory(&path)?;
    let owner = host::owner(directory).map_err(LocalError::at(directory))?;
    let reader = Some(owner).filter(|_| host::is_root());
    host::write_private_for(&path, &text, reader).map_err(LocalError::at(&path))
}

/// A file can't take the place of a directory, which the server's user may have made there.
fn clear_directory(path: &Path) -> Result<(), LocalError> {
    let is_directory = fs::symlink_metadata(path).is_ok_and(|found| found.is_dir());
    if is_directory { remove(path) } else { Ok(()) }
}

/// Makes the directory that of a uid, but for our record. No process of the server may run.
pub(crate) fn give_away(directory: &Path, uid: u32) -> Result<(), LocalError> {
    host::give_away(directory, uid, &[RECORD]).map_err(LocalError::at(directory))
}

/// Whether a process is one of the directory's user. The user of a directory that is
/// gone is unknown, and the mark of the process is all there is.
pub(crate) fn is_of(directory: &Path, process: &ProcessId) -> bool {
    host::owner(directory).map_or(true, |owner| process.uid() == Some(owner))
}

/// The agent that runs for a server. One that is not on record, because we
/// died right after starting it, is known by the lock that it holds.
pub(crate) fn live_agent(directory: &Path) -> Option<ProcessId> {
    let is_ours = |agent: &ProcessId| agent.is_alive() && is_of(directory, agent);
    if let Some(agent) = ProcessId::load(&directory.join(AGENT)).filter(is_ours) {
        return Some(agent);
    }
    let agent = host::holder(directory).filter(is_ours)?;
    if let Err(error) = put_on_record(&agent, directory) {
        tracing::warn!(pid = agent.pid, %error, "an agent is not on record");
    }
    Some(agent)
}

fn put_on_record(agent: &ProcessId, directory: &Path) -> Result<(), LocalError> {
    let path = directory.join(AGENT);
    clear_directory(&path)?;
    agent.save(&path).map_err(LocalError::at(&path))
}

/// Starts the agent as that user and in that network namespace, if they are given, and puts
/// it on record.
pub(crate) fn start_agent(
    directory: &Path,
    program: &Path,
    uid: Option<u32>,
    namespace: Option<&Path>,
) -> Result<(ProcessId, BoxFuture<'static, Exit>), LocalError> {
    let place = directory.to_string_lossy().into_owned();
    let spawn = Spawn {
        program: program.into(),
        arguments: vec!["agent".into(), "--dir".into(), place.clone()],
        environment: vec![(SERVER_VARIABLE.into(), place)],
        directory: directory.into(),
        output: directory.join("agent.log"),
    };
    let started = match (namespace, uid) {
        (Some(namespace), uid) => {
            spawn.start_within(namespace, uid).map(|(agent, ended)| (agent, boxed(ended)))
        }
        (None, Some(uid)) => spawn.start_as(uid).map(|(agent, ended)| (agent, boxed(ended))),
        (None, None) => spawn.start().map(|(agent, ended)| (agent, boxed(ended))),
    };
    let (agent, ended) =
        started.map_err(|source| LocalError::Start { path: program.into(), source })?;
    put_on_record(&agent, directory)?;
    Ok((agent, ended))
}

type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

fn boxed(ended: impl Future<Output = Exit> + Send + 'static) -> BoxFuture<'static, Exit> {
    Box::pin(ended)
}

/// Ends everything of a server at once, and what its instance's user runs if that is known.
/// Answers whether all of it is gone.
pub(crate) async fn end_processes(
    layout: &Layout,
    id: ServerId,
    instance: Option<InstanceId>,
) -> bool {
    let directory = &layout.server(id);
    let deadline = Instant::now() + PATIENCE;
    // The agent goes first: it would start its broker again.
    if let Some(agent) = live_agent(directory) {
        agent.kill();
        while agent.is_alive() {
            if Instant::now() > deadline {
                return false;
            }
            sleep(GLANCE).await;
        }
    }
    loop {
        let mut alive = processes(directory);
        alive.extend(strays::of_server(layout, id, instance));
        if alive.is_empty() {
            return true;
        }
        if Instant::now() > deadline {
            return false;
        }
        for process in alive {
            process.kill();
        }
        sleep(GLANCE).await;
    }
}

/// Everything that runs of a server.
pub(crate) fn processes(directory: &Path) -> Vec<ProcessId> {
    let mut found = host::with_environment(SERVER_VARIABLE, &directory.to_string_lossy());
    found.retain(|process| is_of(directory, process));
    found.extend(recorded(directory));
    found.retain(ProcessId::is_alive);
    found
}

/// The live processes on record under `run/`.
pub(crate) fn recorded(directory: &Path) -> Vec<ProcessId> {
    let Ok(entries) = fs::read_dir(directory.join("run")) else { return Vec::new() };
    let files = entries.flatten().map(|entry| entry.path());
    files
        .filter(|path| path.extension().is_some_and(|extension| extension == "pid"))
        .filter_map(|path| ProcessId::load(&path))
        .filter(|process| process.is_alive() && is_of(directory, process))
        .collect()
}

/// Removes what there is of a server whose processes are gone.
pub(crate) fn remove_all(layout: &Layout, id: ServerId) -> Result<(), LocalError> {
    limits::forget(layout, id)?;
    remove_whole(&layout.server(id))
}
