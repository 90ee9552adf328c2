//! The store's own ballast. Brokers of this host may fill the file system that the
//! store is on as well: then the ballast goes, and the store can still be written
//! while producers are slowed down and people are told.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tokio_util::sync::CancellationToken;

const BALLAST: u64 = 128 << 20;
/// What a broker needs besides its own room to be started once the ballast is given up: what
/// that gave is the store's. While the ballast is there it holds as much, and a broker needs
/// nothing besides. Either way a broker whose own ballast goes can start, whoever is first to
/// find the disk full: its own is never less than a start needs, and the rest counts on both
/// sides. With more, a broker that is first would free too little for itself, and so much
/// that the ballast here stays.
pub const KEPT: u64 = BALLAST;
const LOOK: Duration = Duration::from_secs(5);

/// Until stopped.
pub async fn keep(ballast: PathBuf, stop: CancellationToken) {
    loop {
        let path = ballast.clone();
        // A file system that hangs keeps only this one waiting.
        let looked = tokio::task::spawn_blocking(move || look(&path, BALLAST)).await;
        match looked {
            Ok(Ok(Some(free))) => tracing::error!(
                free_mib = free >> 20,
                path = %ballast.display(),
                "the disk of this host is full: the store's ballast is given up; make room at once"
            ),
            Ok(Err(error)) => tracing::debug!(%error, "no ballast could be made for the store"),
            _ => {}
        }
        if stop.run_until_cancelled(tokio::time::sleep(LOOK)).await.is_none() {
            return;
        }
    }
}

/// With less than half the ballast's size free the store is in danger. What was free,
/// if it was given up.
fn look(ballast: &Path, size: u64) -> io::Result<Option<u64>> {
    let room = host::room(ballast.parent().unwrap_or(Path::new(".")))?;
    if room.total > 0 && room.free < size / 2 && ballast.exists() {
        fs::remove_file(ballast)?;
        return Ok(Some(room.free));
    }
    host::keep_reserved(ballast, size, room)?;
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;
    use faults::{Fault, SmallDisk};

    const SIZE: u64 = 1 << 20;

    #[tokio::test]
    async fn the_store_has_room_on_a_disk_that_was_filled() {
        let directory = tempfile::tempdir().unwrap();
        let made = SmallDisk::mount(&directory.path().join("disk"), 8 * SIZE);
        let Some(disk) = SmallDisk::if_allowed(made) else { return };
        let ballast = disk.path().join("ballast");
        let store = disk.path().join("castellan.db");
        assert_eq!(look(&ballast, SIZE).unwrap(), None);
        assert_eq!(fs::metadata(&ballast).unwrap().len(), SIZE);
        let mut full = Fault::FullDisk(disk.path().into()).inject().await.unwrap();
        fs::write(&store, vec![1; 4096]).unwrap_err();
        assert_eq!(look(&ballast, SIZE).unwrap(), Some(0));
        fs::write(&store, vec![1; 4096]).unwrap();
        assert_eq!(look(&ballast, SIZE).unwrap(), None, "it stays away while there is little room");
        assert!(!ballast.exists());
        full.undo().await.unwrap();
        assert_eq!(look(&ballast, SIZE).unwrap(), None);
        assert!(ballast.exists(), "it is there again");
    }
}
