//! Becoming the user that the server belongs to.
//!
//! The cloud starts an agent as that user. Only one that an earlier release started
//! runs as root; it changes when its broker has ended, because a broker that runs as
//! root could not be reached from another uid. So an upgrade restarts nothing.

use crate::place::Place;
use crate::start;
use std::io;
use std::path::{Path, PathBuf};
use wire::agent::{DISK_MARKER, SERVER_RECORD, SERVER_VARIABLE};

#[derive(Debug, thiserror::Error)]
pub enum UserError {
    #[error("{} can't be given to the server's own uid: {source}", path.display())]
    Give { path: PathBuf, source: io::Error },
    #[error("the agent's program {} can't be found: {source}", path.display())]
    Program { path: PathBuf, source: io::Error },
}

/// Gives the server's files to its user and goes on as that, if this is root and there is
/// one. The broker must not run. Nothing else of this agent may run meanwhile, so it does
/// not wait for anything; it returns only if there is nothing to do, or on failure.
pub fn take(place: &Place) -> Result<(), UserError> {
    if !host::is_root() {
        return Ok(());
    }
    let Some(uid) = start::load(place).ok().and_then(|start| start.uid) else { return Ok(()) };
    let current = place.current_program();
    let program =
        current.canonicalize().map_err(|source| UserError::Program { path: current, source })?;
    let give = |path: &Path, kept: &str| match host::give_away(path, uid, &[kept]) {
        Err(source) if source.kind() != io::ErrorKind::NotFound => {
            Err(UserError::Give { path: path.into(), source })
        }
        _ => Ok(()),
    };
    if let Ok(disk) = place.disk().canonicalize() {
        give(&disk, DISK_MARKER)?;
    }
    give(place.dir(), SERVER_RECORD)?;
    tracing::info!(uid, "the agent goes on as the user of its server");
    let dir = place.dir().to_string_lossy();
    let failed =
        host::replace_self_as(uid, &program, &["agent", "--dir", &dir], &[SERVER_VARIABLE]);
    // What was given up does not come back. The cloud starts the next agent as that user.
    tracing::error!(error = %failed, "the agent can't run as the user of its server, and ends");
    std::process::exit(1);
}
