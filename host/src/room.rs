//! How much room a file system has.

use std::fs::{self, Metadata};
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

/// What `stat` counts in.
const BLOCK: u64 = 512;

/// In bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Room {
    /// For this user: some is kept for root alone.
    pub free: u64,
    /// Zero where the file system does not say.
    pub total: u64,
}

/// Of the file system that a path is on.
pub fn room(path: &Path) -> io::Result<Room> {
    let status = rustix::fs::statvfs(path)?;
    let is_root = rustix::process::geteuid().is_root();
    let free = if is_root { status.f_bfree } else { status.f_bavail };
    Ok(Room {
        free: free.saturating_mul(status.f_frsize),
        total: status.f_blocks.saturating_mul(status.f_frsize),
    })
}

/// Whether two paths are on one file system, so that whoever fills one fills the other.
pub fn share_room(one: &Path, other: &Path) -> io::Result<bool> {
    Ok(fs::metadata(one)?.dev() == fs::metadata(other)?.dev())
}

/// Bytes that a file takes of its file system, whatever its length.
pub fn taken(file: &Metadata) -> u64 {
    file.blocks().saturating_mul(BLOCK)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_is_some_room_here_and_none_nowhere() {
        let directory = tempfile::tempdir().unwrap();
        let here = room(directory.path()).unwrap();
        assert!(here.free > 0 && here.free <= here.total, "{here:?}");
        let nowhere = room(&directory.path().join("nowhere")).unwrap_err();
        assert_eq!(nowhere.kind(), io::ErrorKind::NotFound);
    }

    #[test]
    fn who_is_in_one_directory_shares_its_room() {
        let directory = tempfile::tempdir().unwrap();
        let inner = directory.path().join("inner");
        share_room(directory.path(), &inner).unwrap_err();
        fs::create_dir(&inner).unwrap();
        assert!(share_room(directory.path(), &inner).unwrap());
        assert!(!share_room(directory.path(), Path::new("/proc")).unwrap());
    }
}
