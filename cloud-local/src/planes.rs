//! The control planes that work on this host's servers: one as a rule, several
//! where they share a PostgreSQL and a host directory.
//!
//! Each is on record before it does anything, so of two that start at once at
//! least one sees the other. A process that stands still is alive: it may go on.

use crate::LocalError;
use crate::layout::{Layout, remove};
use host::ProcessId;
use std::fs;
use std::path::Path;

/// The control planes that live, of the servers in this directory.
pub fn planes(directory: &Path) -> Result<Vec<ProcessId>, LocalError> {
    if !directory.exists() {
        return Ok(Vec::new());
    }
    Ok(living(&Layout::of(directory)?))
}

/// Puts this process on record.
pub(crate) fn register(layout: &Layout) -> Result<(), LocalError> {
    let own = ProcessId::own();
    let path = layout.planes().join(own.pid.to_string());
    own.save(&path).map_err(LocalError::at(&path))
}

/// Those besides this process. What the dead left is removed on the way.
pub(crate) fn others(layout: &Layout) -> Vec<ProcessId> {
    let own = ProcessId::own();
    living(layout).into_iter().filter(|plane| *plane != own).collect()
}

fn living(layout: &Layout) -> Vec<ProcessId> {
    let entries = fs::read_dir(layout.planes()).into_iter().flatten().flatten();
    let mut found = Vec::new();
    for path in entries.map(|entry| entry.path()) {
        let Some(plane) = ProcessId::load(&path) else { continue };
        if plane.is_alive() {
            found.push(plane);
        } else {
            // What stays is looked at again the next time.
            let _ = remove(&path);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_living_count_and_the_dead_are_forgotten() {
        let directory = tempfile::tempdir().unwrap();
        assert_eq!(planes(&directory.path().join("absent")).unwrap(), []);
        let layout = Layout::make(directory.path()).unwrap();
        register(&layout).unwrap();
        let own = ProcessId::own();
        let dead = ProcessId { start_time: own.start_time - 1, ..own.clone() };
        dead.save(&layout.planes().join("1")).unwrap();
        assert_eq!(planes(directory.path()).unwrap(), [own]);
        assert_eq!(others(&layout), []);
        assert_eq!(fs::read_dir(layout.planes()).unwrap().count(), 1);
    }
}
