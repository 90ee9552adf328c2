//! Room that is taken beforehand, to be given back when there is none left.

use crate::{Room, taken};
use rustix::fs::FallocateFlags;
use std::fs::{self, OpenOptions};
use std::io;
use std::path::Path;

/// It is made only where so many times its size are free: given up, it is not wanted
/// back at once.
const SPARE: u64 = 4;

/// Reserves it unless it is, where the file system has plenty of room.
pub fn keep_reserved(path: &Path, bytes: u64, room: Room) -> io::Result<()> {
    let is_plenty = room.free >= bytes.saturating_mul(SPARE);
    if !is_plenty || is_reserved(path, bytes) { Ok(()) } else { reserve(path, bytes) }
}

/// Takes so many bytes of the file system for a file that holds nothing. One that
/// is there has that size from then on. Fails, and leaves none, where there is no
/// room or the file system can't do it.
pub fn reserve(path: &Path, bytes: u64) -> io::Result<()> {
    let file = OpenOptions::new().write(true).create(true).truncate(false).open(path)?;
    let taken = rustix::fs::fallocate(&file, FallocateFlags::empty(), 0, bytes)
        .map_err(io::Error::from)
        .and_then(|()| file.set_len(bytes));
    if taken.is_err() {
        let _ = fs::remove_file(path);
    }
    taken
}

/// Whether a file takes that room: one that was cut short by a crash, or copied with
/// holes, does not.
fn is_reserved(path: &Path, bytes: u64) -> bool {
    fs::metadata(path).is_ok_and(|file| taken(&file) >= bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_reserved_is_taken() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("ballast");
        for bytes in [1 << 20, 3 << 20, 2 << 20] {
            reserve(&path, bytes).unwrap();
            assert_eq!(fs::metadata(&path).unwrap().len(), bytes);
            assert!(is_reserved(&path, bytes) && !is_reserved(&path, 2 * bytes));
        }
        let hollow = directory.path().join("hollow");
        fs::File::create(&hollow).unwrap().set_len(1 << 20).unwrap();
        assert!(!is_reserved(&hollow, 1 << 20));
        reserve(&path, 1 << 60).unwrap_err();
        assert!(!path.exists(), "nothing is left of what failed");
    }
}
