//! What one server may take of this host: a control group that its agent and broker
//! are in. A broker that outgrows it is killed in there, its agent starts it again,
//! and no other server notices.
//!
//! A group that can't be made is no reason for a server not to be.

use crate::LocalError;
use crate::layout::{Layout, remove};
use cloud::ServerSpec;
use host::{Group, Groups, Limits, ProcessId};
use model::ServerId;
use sha2::{Digest as _, Sha256};
use std::fs;
use std::io::ErrorKind;

/// However small the plan is: a start keeps several processors busy for some seconds, and
/// with one alone it takes many. Shares divide the processors fairly where they are short.
const LEAST_QUOTA: u64 = 4;
/// A quota is so many times the plan's cores.
const QUOTA_EACH: u64 = 2;
/// Threads of a JVM that serves many listeners, and the same again.
const PIDS: u64 = 1024;
const PIDS_EACH: u64 = 256;

/// Page cache counts, and goes first: what a plan has beside heap and JVM is for that.
fn limits(spec: &ServerSpec) -> Limits {
    let cores = u64::from(spec.cores).max(1);
    Limits {
        memory: u64::from(spec.memory_mb) << 20,
        cores,
        most_cores: (cores * QUOTA_EACH).max(LEAST_QUOTA),
        pids: PIDS + cores * PIDS_EACH,
    }
}

/// The server's group, with the limits of its plan. One that was made where less could be
/// limited gets the rest: its agent is in there at once, its broker from its next start.
pub(crate) fn ensure(layout: &Layout, groups: &Groups, spec: &ServerSpec) -> Option<Group> {
    let known = load(layout, spec.id);
    let group = groups.group(&name(layout, spec.id), known.clone());
    let recorded =
        if known.as_ref() == Some(&group) { Ok(()) } else { record(layout, spec.id, &group) };
    let made = recorded.and_then(|()| {
        let made = group.make(&limits(spec));
        made.map(|()| group).map_err(LocalError::at(&layout.group(spec.id)))
    });
    let warn = |error: &LocalError| tracing::warn!(server = %spec.id, %error, "it has no limits");
    made.inspect_err(warn).ok()
}

/// On record before it is made, so that it is found again from any other group.
fn record(layout: &Layout, server: ServerId, group: &Group) -> Result<(), LocalError> {
    let path = layout.group(server);
    let text = serde_json::to_vec(group).expect("plain data serialises");
    host::write_private(&path, &text).map_err(LocalError::at(&path))
}

/// The group that a server was given.
pub(crate) fn load(layout: &Layout, server: ServerId) -> Option<Group> {
    serde_json::from_slice(&fs::read(layout.group(server)).ok()?).ok()
}

/// What runs of the server is in its group from then on.
pub(crate) fn enter(group: &Group, server: ServerId, processes: &[ProcessId]) {
    for process in processes {
        if let Err(error) = group.add(process) {
            tracing::warn!(%server, pid = process.pid, %error, "a process has no limits");
        }
    }
}

/// After the last process of a server has ended.
pub(crate) fn forget(layout: &Layout, server: ServerId) -> Result<(), LocalError> {
    let path = layout.group(server);
    match load(layout, server).map_or(Ok(()), |group| group.remove()) {
        // One that just ended may be counted for a moment.
        Err(error) if error.kind() == ErrorKind::ResourceBusy => {
            Err(LocalError::StillEnding(server))
        }
        other => other.map_err(LocalError::at(&path)).and_then(|()| remove(&path)),
    }
}

/// Of one host directory: another may have a server of the same id.
fn name(layout: &Layout, server: ServerId) -> String {
    let digest = Sha256::digest(layout.root().as_os_str().as_encoded_bytes());
    let here = digest.iter().take(4).fold(String::new(), |text, byte| format!("{text}{byte:02x}"));
    format!("castellan-{here}-{server}")
}
