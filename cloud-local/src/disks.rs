//! Disks as directories with a marker.
//!
//! The marker says whose disk it is. A directory without one, or with another
//! one, is never used, emptied or removed.

use crate::LocalError;
use crate::layout::{Layout, hidden, remove, remove_whole};
use cloud::DiskSpec;
use model::{DiskId, ServerId};
use std::fs;
use std::path::{Path, PathBuf};
use wire::agent::{DISK_MARKER, DiskMarker};

/// Whose disk a directory says to be.
pub(crate) fn marker(disk: &Path) -> Option<DiskMarker> {
    serde_json::from_slice(&fs::read(disk.join(DISK_MARKER)).ok()?).ok()
}

pub(crate) fn ensure(layout: &Layout, disk: &DiskSpec) -> Result<(), LocalError> {
    let path = layout.disk(disk.id);
    let wanted =
        DiskMarker { disk_id: disk.id, instance_id: disk.instance_id, server_id: disk.server_id };
    match (path.try_exists().map_err(LocalError::at(&path))?, marker(&path)) {
        (true, Some(marker)) if marker == wanted => Ok(()),
        (true, marker) => Err(refusal(path, marker)),
        (false, _) => make(&path, &wanted),
    }
}

/// Made aside and renamed, so that a disk never exists without its marker.
fn make(path: &Path, marker: &DiskMarker) -> Result<(), LocalError> {
    let half = hidden(path, "new");
    remove(&half)?;
    host::create_private_dir(&half).map_err(LocalError::at(&half))?;
    let text = serde_json::to_vec_pretty(marker).expect("plain data serialises");
    host::write_atomic(&half.join(DISK_MARKER), &text).map_err(LocalError::at(&half))?;
    fs::rename(&half, path).map_err(LocalError::at(path))?;
    path.parent().map_or(Ok(()), host::sync_dir).map_err(LocalError::at(path))
}

fn refusal(path: PathBuf, marker: Option<DiskMarker>) -> LocalError {
    let why = match marker {
        None => "it has no marker of this installation".to_owned(),
        Some(other) => format!(
            "its marker names disk {} of server {} of instance {}",
            other.disk_id, other.server_id, other.instance_id
        ),
    };
    LocalError::Foreign { path, why }
}

pub(crate) fn remove_disk(layout: &Layout, id: DiskId) -> Result<(), LocalError> {
    let path = layout.disk(id);
    if let Some(server) = user(layout, id)? {
        return Err(LocalError::InUse { disk: id, server });
    }
    remove(&layout.logs(id))?;
    if !path.try_exists().map_err(LocalError::at(&path))? {
        // A removal that was cut short goes on here.
        return remove(&hidden(&path, "removed"));
    }
    match marker(&path) {
        Some(marker) if marker.disk_id == id => remove_whole(&path),
        _ => Err(LocalError::Foreign {
            path,
            why: "it does not carry the marker of that disk".into(),
        }),
    }
}

/// The server whose `disk` link leads to this disk.
fn user(layout: &Layout, id: DiskId) -> Result<Option<ServerId>, LocalError> {
    let name = id.to_string();
    let servers = layout.servers()?;
    let uses = |directory: &Path| {
        fs::read_link(directory.join("disk"))
            .is_ok_and(|target| target.file_name().is_some_and(|file| file == name.as_str()))
    };
    Ok(servers.into_iter().find(|(_, directory)| uses(directory)).map(|(server, _)| server))
}

/// The disks that carry their own marker.
pub(crate) fn list(layout: &Layout) -> Result<Vec<DiskId>, LocalError> {
    let disks = layout.disks()?.into_iter();
    let marked =
        disks.filter(|(id, path)| marker(path).is_some_and(|marker| marker.disk_id == *id));
    Ok(marked.map(|(id, _)| id).collect())
}
