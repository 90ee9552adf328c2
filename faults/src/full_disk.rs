//! Not a byte left: a file takes all the room that there is.
//!
//! Only on a small file system, since others would run out of room too.

use crate::{FaultError, Undo};
use rustix::fs::{FallocateFlags, fallocate, statvfs};
use rustix::io::Errno;
use std::fs::{self, File};
use std::path::{Path, PathBuf};

const WHAT: &str = "a full disk";
const BALLAST: &str = ".castellan-ballast";
/// Larger ones are not made for tests.
const SMALL: u64 = 4 << 30;

pub fn inject(directory: &Path) -> Result<Undo, FaultError> {
    let room = statvfs(directory).map_err(|error| FaultError::at(directory)(error.into()))?;
    let total = room.f_blocks * room.f_frsize;
    if total > SMALL {
        let at = directory.display();
        let reason = format!(
            "{at} is on a file system of {} GiB, which is not for tests alone; mount a SmallDisk",
            total >> 30
        );
        return Err(FaultError::unavailable(WHAT, reason));
    }
    let path = directory.join(BALLAST);
    let filled = File::create(&path).and_then(|file| fill(&file, room.f_frsize));
    let remove = move || remove(&path);
    match filled {
        Ok(()) => Ok(Box::new(move || remove().map(|()| None))),
        Err(error) => {
            remove()?;
            Err(FaultError::at(directory)(error))
        }
    }
}

/// Ever smaller pieces, until not one block is left.
fn fill(file: &File, block: u64) -> std::io::Result<()> {
    let mut piece = SMALL;
    let mut length = 0;
    while piece >= block {
        match fallocate(file, FallocateFlags::empty(), length, piece) {
            Ok(()) => length += piece,
            Err(Errno::NOSPC) => piece /= 2,
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

fn remove(path: &PathBuf) -> Result<(), FaultError> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(FaultError::at(path)(error))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use crate::{Fault, FaultError, SmallDisk};
    use std::fs;
    use std::io::ErrorKind;

    const MEGABYTE: u64 = 1 << 20;

    #[tokio::test]
    async fn nothing_can_be_written_until_undone() {
        let directory = tempfile::tempdir().unwrap();
        let at = directory.path().join("disk");
        let disk = match SmallDisk::mount(&at, 8 * MEGABYTE) {
            Ok(disk) => disk,
            // Where nobody may mount, that must be what is said.
            Err(FaultError::Unavailable { reason, .. }) => {
                assert!(!rustix::process::geteuid().is_root(), "root could not mount: {reason}");
                return;
            }
            Err(error) => panic!("{error}"),
        };
        let file = disk.path().join("file");
        fs::write(&file, vec![1; 65536]).unwrap();
        for dropped in [false, true] {
            let mut injected = Fault::FullDisk(disk.path().into()).inject().await.unwrap();
            let refused = fs::write(disk.path().join("more"), vec![1; 65536]).unwrap_err();
            assert_eq!(refused.kind(), ErrorKind::StorageFull);
            assert_eq!(fs::read(&file).unwrap().len(), 65536, "what was there stays");
            if dropped {
                drop(injected);
            } else {
                injected.undo().await.unwrap();
                injected.undo().await.unwrap();
            }
            fs::write(disk.path().join("more"), vec![1; 65536]).unwrap();
            fs::remove_file(disk.path().join("more")).unwrap();
        }
        drop(disk);
        assert!(!file.exists(), "it is gone");
    }

    #[tokio::test]
    async fn a_disk_that_others_use_is_left_alone() {
        let directory = tempfile::tempdir().unwrap();
        let room = rustix::fs::statvfs(directory.path()).unwrap();
        let refused = Fault::FullDisk(directory.path().into()).inject().await;
        if room.f_blocks * room.f_frsize > super::SMALL {
            let refused = refused.map(drop).unwrap_err().to_string();
            assert!(refused.contains("mount a SmallDisk"), "{refused}");
        }
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 0);
    }
}
