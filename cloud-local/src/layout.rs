//! Where everything is under the data directory.
//!
//! Names that start with a dot are half made or half removed; nobody may take
//! them for the thing itself.

use crate::LocalError;
use host::Slots;
use model::{DiskId, InstanceId, ServerId, VpcId};
use std::fs::{self, Permissions};
use std::io::ErrorKind;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::str::FromStr;

#[derive(Clone, Debug)]
pub(crate) struct Layout {
    root: PathBuf,
}

const ROOMS: [&str; 11] = [
    "servers", "disks", "networks", "netns", "bin", "fences", "planes", "logs", "uids", "groups",
    "pool",
];
/// What users of other uids have to pass through, to what is theirs or everybody's.
const PASSAGES: [&str; 3] = ["servers", "disks", "bin"];
/// Where clusters take turns to start; agents know it by this name.
const STARTS: &str = "starts";

impl Layout {
    /// The layout of a data directory that may not exist yet.
    pub(crate) fn make(data_dir: &Path) -> Result<Self, LocalError> {
        for room in ROOMS {
            let path = data_dir.join(room);
            host::create_private_dir(&path).map_err(LocalError::at(&path))?;
        }
        Self::of(data_dir)
    }

    /// The layout of one that exists. Its path is made absolute, because it is
    /// handed to processes with another working directory.
    pub(crate) fn of(data_dir: &Path) -> Result<Self, LocalError> {
        let root = data_dir.canonicalize().map_err(LocalError::at(data_dir))?;
        Ok(Self { root })
    }

    /// Lets users of other uids pass through to what is theirs, and see nothing else.
    pub(crate) fn open_passages(&self) -> Result<(), LocalError> {
        let pass = |path: &Path| fs::set_permissions(path, Permissions::from_mode(0o711));
        let mut paths = vec![self.root.clone()];
        paths.extend(PASSAGES.map(|room| self.root.join(room)));
        for path in paths {
            pass(&path).map_err(LocalError::at(&path))?;
        }
        let starts = self.root.join(STARTS);
        let slots = Slots::new(starts.clone(), host::processors());
        slots.open_to_all().map_err(LocalError::at(&starts))
    }

    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    pub(crate) fn server(&self, id: ServerId) -> PathBuf {
        self.root.join("servers").join(id.to_string())
    }

    pub(crate) fn disk(&self, id: DiskId) -> PathBuf {
        self.root.join("disks").join(id.to_string())
    }

    /// The logs of the server that has this disk, while that is not there.
    pub(crate) fn logs(&self, id: DiskId) -> PathBuf {
        self.root.join("logs").join(id.to_string())
    }

    pub(crate) fn network(&self, id: VpcId) -> PathBuf {
        self.root.join("networks").join(id.to_string())
    }

    /// Where networks in namespaces are on record.
    pub(crate) fn namespaces(&self) -> PathBuf {
        self.root.join("netns")
    }

    pub(crate) fn namespaces_of_host(&self) -> PathBuf {
        self.namespaces().join("host")
    }

    pub(crate) fn vpc(&self, id: VpcId) -> PathBuf {
        self.namespaces().join(id.to_string())
    }

    pub(crate) fn vpcs(&self) -> Result<Vec<(VpcId, PathBuf)>, LocalError> {
        list(&self.namespaces())
    }

    pub(crate) fn fence(&self, id: InstanceId) -> PathBuf {
        self.root.join("fences").join(id.to_string())
    }

    pub(crate) fn planes(&self) -> PathBuf {
        self.root.join("planes")
    }

    pub(crate) fn uids(&self) -> PathBuf {
        self.root.join("uids")
    }

    pub(crate) fn uid(&self, id: InstanceId) -> PathBuf {
        self.uids().join(id.to_string())
    }

    pub(crate) fn group(&self, id: ServerId) -> PathBuf {
        self.root.join("groups").join(id.to_string())
    }

    /// Processes that wait for a server; agents know it by this name.
    pub(crate) fn pool(&self) -> PathBuf {
        self.root.join("pool")
    }

    pub(crate) fn bin(&self) -> PathBuf {
        self.root.join("bin")
    }

    pub(crate) fn servers(&self) -> Result<Vec<(ServerId, PathBuf)>, LocalError> {
        list(&self.root.join("servers"))
    }

    pub(crate) fn disks(&self) -> Result<Vec<(DiskId, PathBuf)>, LocalError> {
        list(&self.root.join("disks"))
    }

    pub(crate) fn networks(&self) -> Result<Vec<(VpcId, PathBuf)>, LocalError> {
        list(&self.root.join("networks"))
    }

    pub(crate) fn recorded_uids(&self) -> Result<Vec<(InstanceId, PathBuf)>, LocalError> {
        list(&self.uids())
    }

    pub(crate) fn groups(&self) -> Result<Vec<(ServerId, PathBuf)>, LocalError> {
        list(&self.root.join("groups"))
    }

    pub(crate) fn fences(&self) -> Result<Vec<(InstanceId, PathBuf)>, LocalError> {
        list(&self.root.join("fences"))
    }

    /// Removes what a crash left half made or half removed. What can't be removed costs
    /// room and nothing else.
    pub(crate) fn clear_leftovers(&self) -> Result<(), LocalError> {
        for room in ROOMS {
            let room = self.root.join(room);
            for entry in fs::read_dir(&room).map_err(LocalError::at(&room))?.flatten() {
                if entry.file_name().to_string_lossy().starts_with('.')
                    && let Err(error) = remove(&entry.path())
                {
                    tracing::warn!(%error, "something half removed stays");
                }
            }
        }
        Ok(())
    }
}

/// The name of a directory that is being made or removed.
pub(crate) fn hidden(path: &Path, word: &str) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    path.with_file_name(format!(".{word}-{name}"))
}

/// Removes a directory so that it is there whole or not at all, also after a
/// crash in the middle. Absent is fine.
pub(crate) fn remove_whole(path: &Path) -> Result<(), LocalError> {
    let removed = hidden(path, "removed");
    remove(&removed)?;
    match fs::rename(path, &removed) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        other => other.map_err(LocalError::at(path))?,
    }
    if let Some(room) = path.parent() {
        host::sync_dir(room).map_err(LocalError::at(room))?;
    }
    remove(&removed)
}

/// Removes a file or directory; absent is fine. A tenant may have filled it.
pub(crate) fn remove(path: &Path) -> Result<(), LocalError> {
    host::remove_tree(path).map_err(LocalError::at(path))
}

/// The entries of a room whose names are ids, in order.
fn list<T: FromStr + Ord>(room: &Path) -> Result<Vec<(T, PathBuf)>, LocalError> {
    let entries = match fs::read_dir(room) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        other => other.map_err(LocalError::at(room))?,
    };
    let mut found: Vec<(T, PathBuf)> = entries
        .flatten()
        .filter_map(|entry| {
            let id = entry.file_name().to_str()?.parse().ok()?;
            Some((id, entry.path()))
        })
        .collect();
    found.sort_by(|one, two| one.0.cmp(&two.0));
    Ok(found)
}
