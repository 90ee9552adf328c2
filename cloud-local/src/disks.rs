//! Disks as directories with a marker.
//!
//! The marker says whose disk it is. A directory without one, or with another
//! one, is never used, emptied or removed. It is ours, also where the disk belongs to
//! the uid of its instance: one that somebody else wrote is none.

use crate::LocalError;
use crate::layout::{Layout, hidden, remove, remove_whole};
use crate::servers::Record;
use cloud::DiskSpec;
use model::{DiskId, ServerId};
use std::fs;
use std::path::{Path, PathBuf};
use wire::agent::{DISK_MARKER, DiskMarker};

/// Whose disk a directory says to be.
pub(crate) fn marker(disk: &Path) -> Option<DiskMarker> {
    serde_json::from_slice(&host::read_own(disk, Path::new(DISK_MARKER)).ok()?).ok()
}

/// One that is there stays whose it is until its server starts.
pub(crate) fn ensure(layout: &Layout, disk: &DiskSpec, uid: Option<u32>) -> Result<(), LocalError> {
    let path = layout.disk(disk.id);
    let wanted =
        DiskMarker { disk_id: disk.id, instance_id: disk.instance_id, server_id: disk.server_id };
    match (path.try_exists().map_err(LocalError::at(&path))?, marker(&path)) {
        (true, Some(marker)) if marker == wanted => Ok(()),
        (true, marker) => Err(refusal(path, marker)),
        (false, _) => make(&path, &wanted, uid),
    }
}

/// Made aside and renamed, so that a disk never exists without its marker.
fn make(path: &Path, marker: &DiskMarker, uid: Option<u32>) -> Result<(), LocalError> {
    let half = hidden(path, "new");
    remove(&half)?;
    host::create_private_dir(&half).map_err(LocalError::at(&half))?;
    let text = serde_json::to_vec_pretty(marker).expect("plain data serialises");
    host::write_atomic(&half.join(DISK_MARKER), &text).map_err(LocalError::at(&half))?;
    if let Some(uid) = uid {
        give_away(&half, uid)?;
    }
    fs::rename(&half, path).map_err(LocalError::at(path))?;
    path.parent().map_or(Ok(()), host::sync_dir).map_err(LocalError::at(path))
}

/// Makes a disk that of a uid, but for its marker. Nothing may use it meanwhile.
pub(crate) fn give_away(path: &Path, uid: u32) -> Result<(), LocalError> {
    host::give_away(path, uid, &[DISK_MARKER]).map_err(LocalError::at(path))
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

/// The server that this disk was made for and that is there.
fn user(layout: &Layout, id: DiskId) -> Result<Option<ServerId>, LocalError> {
    let servers = layout.servers()?;
    let uses = |directory: &Path| Record::load(directory).is_some_and(|it| it.disk_id == id);
    Ok(servers.into_iter().find(|(_, directory)| uses(directory)).map(|(server, _)| server))
}

/// The disks that carry their own marker.
pub(crate) fn list(layout: &Layout) -> Result<Vec<DiskId>, LocalError> {
    let disks = layout.disks()?.into_iter();
    let marked =
        disks.filter(|(id, path)| marker(path).is_some_and(|marker| marker.disk_id == *id));
    Ok(marked.map(|(id, _)| id).collect())
}
