//! Whether the disk is the one it should be, before each start.
//!
//! Formatting is the broker's launcher's work, and allowed only when we are told
//! to and the disk's note of it is absent. A disk that lost its data, or is
//! somebody else's, stops the broker from starting: an empty replica in place of
//! a full one loses data. So does one without room, where starts are in vain.

use crate::place::Place;
use host::Room;
use std::collections::HashMap;
use std::fs;
use std::io;
use std::path::Path;
use wire::agent::{DISK_MARKER, Desired, DiskMarker};

/// Where Kafka's data are on the disk.
const DATA: &str = "data";
/// The launcher's note that this disk has been formatted; durable before the
/// broker first starts on it.
const FORMATTED: &str = "FORMATTED";

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DiskCheck {
    /// Formatted, by and for this server.
    Ready,
    /// Its format is not complete, and we are told to format it.
    MayFormat,
}

#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum DiskFault {
    #[error("the disk is lost: {0}")]
    Lost(String),
    #[error("the disk is refused: {0}")]
    Foreign(String),
    #[error("the disk can't be read: {0}")]
    Unreadable(String),
    #[error(
        "the disk is full: {} MiB of {} MiB are free{}; give it more space, and it goes on by \
         itself",
        room.free >> 20,
        room.total >> 20,
        of_store(*kept)
    )]
    Full { room: Room, kept: u64 },
}

/// Bytes that must be free for a start to have a chance.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Needed {
    pub to_start: u64,
    /// Besides, and not for brokers: the control plane's store may be on the same file
    /// system.
    pub kept: u64,
}

fn of_store(kept: u64) -> String {
    match kept >> 20 {
        0 => String::new(),
        kept => format!(
            ", and {kept} MiB have to stay free for Castellan's own data on the same file system"
        ),
    }
}

pub fn check(place: &Place, desired: &Desired) -> Result<DiskCheck, DiskFault> {
    let disk = place.disk();
    check_marker(&disk, desired)?;
    let is_formatted = read(&disk.join(FORMATTED))?.is_some();
    match (read(&disk.join(DATA).join("meta.properties"))?, is_formatted, &desired.disk.format) {
        // A crash came between Kafka's mark and the launcher's note. For a
        // server that joins, the directory id is set in between.
        (Some(meta), false, Some(format)) => {
            let joins = format.initial_controllers.is_empty();
            check_meta(&meta, desired, !joins)?;
            Ok(DiskCheck::MayFormat)
        }
        (Some(meta), _, _) => {
            check_meta(&meta, desired, true)?;
            Ok(DiskCheck::Ready)
        }
        (None, false, Some(_)) => Ok(DiskCheck::MayFormat),
        (None, true, _) => Err(DiskFault::Lost("it was formatted, but its data are gone".into())),
        (None, false, None) => {
            Err(DiskFault::Lost("it is empty, though a broker has run on it before".into()))
        }
    }
}

/// Fails if less than is needed is free: a broker that starts there ends at once, or
/// has the store end, and one that ended there ended for that.
pub fn check_room(place: &Place, needed: Needed) -> Result<(), DiskFault> {
    let Ok(room) = host::room(&place.disk()) else { return Ok(()) };
    let Needed { to_start, kept } = needed;
    let is_full = room.total > 0 && room.free < to_start.saturating_add(kept);
    if is_full { Err(DiskFault::Full { room, kept }) } else { Ok(()) }
}

/// Puts the launcher's note back on a disk that is ready and lost only that.
pub fn note_formatted(place: &Place, desired: &Desired) -> io::Result<()> {
    let note = place.disk().join(FORMATTED);
    if note.exists() {
        return Ok(());
    }
    let Desired { cluster_id, disk, .. } = desired;
    let text = format!("cluster.id={cluster_id}\ndirectory.id={}\n", disk.directory_id);
    host::write_atomic(&note, text.as_bytes())
}

fn check_marker(disk: &Path, desired: &Desired) -> Result<(), DiskFault> {
    let Some(text) = read(&disk.join(DISK_MARKER))? else {
        let words = if disk.exists() { "its marker is missing" } else { "it is not there" };
        return Err(DiskFault::Lost(words.into()));
    };
    let marker: DiskMarker = serde_json::from_str(&text)
        .map_err(|_| DiskFault::Unreadable("its marker is not whole".into()))?;
    let wanted = DiskMarker {
        disk_id: desired.disk.id,
        instance_id: desired.instance_id,
        server_id: desired.server_id,
    };
    if marker == wanted {
        return Ok(());
    }
    Err(DiskFault::Foreign(format!(
        "its marker names disk {} of server {} of instance {}",
        marker.disk_id, marker.server_id, marker.instance_id
    )))
}

fn check_meta(meta: &str, desired: &Desired, with_directory: bool) -> Result<(), DiskFault> {
    let meta = properties(meta);
    let node = desired.node_id.to_string();
    let mut wanted = vec![("cluster.id", desired.cluster_id.as_str()), ("node.id", &node)];
    if with_directory {
        wanted.push(("directory.id", &desired.disk.directory_id));
    }
    match wanted.into_iter().find(|(key, wanted)| meta.get(key) != Some(wanted)) {
        None => Ok(()),
        Some((key, wanted)) => Err(DiskFault::Foreign(format!(
            "its data have {key} {}, not {wanted}",
            meta.get(key).unwrap_or(&"none")
        ))),
    }
}

/// A Java properties file without escapes, as Kafka writes this one.
fn properties(text: &str) -> HashMap<&str, &str> {
    let lines = text.lines().map(str::trim).filter(|line| !line.starts_with('#'));
    lines.filter_map(|line| line.split_once('=')).map(|(k, v)| (k.trim(), v.trim())).collect()
}

/// The file's text; none if it is not there.
fn read(path: &Path) -> Result<Option<String>, DiskFault> {
    match fs::read_to_string(path) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(DiskFault::Unreadable(format!("{}: {error}", path.display()))),
    }
}

#[cfg(test)]
#[path = "disk_tests.rs"]
mod tests;
