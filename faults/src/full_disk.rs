//! Not a byte left, or so many: a file takes the room that there is.
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

/// So many bytes are left.
pub fn inject(directory: &Path, left: u64) -> Result<Undo, FaultError> {
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
    let free = room.f_bavail * room.f_frsize;
    if left > 0 && free <= left {
        let reason = format!("{} has {free} bytes left already", directory.display());
        return Err(FaultError::unavailable(WHAT, reason));
    }
    let path = directory.join(BALLAST);
    let filled = match left {
        0 => File::create(&path).and_then(|file| fill(&file, room.f_frsize)),
        left => host::reserve(&path, free - left),
    };
    let remove = move || remove(&path);
    match filled {
        Ok(()) => Ok(Box::new(remove)),
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
    // A process that is just being started has it open as well, until its program
    // runs: removed alone, it would keep its room for as long.
    let emptied = File::options().write(true).open(path).and_then(|file| file.set_len(0));
    match emptied.and_then(|()| fs::remove_file(path)) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(FaultError::at(path)(error))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use crate::{Fault, SmallDisk};
    use std::fs;
    use std::io::ErrorKind;
    use std::path::Path;

    const MEGABYTE: u64 = 1 << 20;

    fn small_disk(directory: &Path) -> Option<SmallDisk> {
        SmallDisk::if_allowed(SmallDisk::mount(&directory.join("disk"), 8 * MEGABYTE))
    }

    #[tokio::test]
    async fn nothing_can_be_written_until_undone() {
        let directory = tempfile::tempdir().unwrap();
        let Some(disk) = small_disk(directory.path()) else { return };
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
            fs::write(disk.path().join(format!("after-{dropped}")), vec![1; 65536]).unwrap();
        }
        drop(disk);
        assert!(!file.exists(), "it is gone");
    }

    #[tokio::test]
    async fn as_much_is_left_as_was_asked_for() {
        let directory = tempfile::tempdir().unwrap();
        let Some(disk) = small_disk(directory.path()) else { return };
        let fault = |left| Fault::FillDisk { directory: disk.path().into(), left };
        let free = || host::room(disk.path()).unwrap().free;
        let before = free();
        let mut injected = fault(2 * MEGABYTE).inject().await.unwrap();
        assert!((2 * MEGABYTE).abs_diff(free()) < 65536, "{} are left", free());
        injected.undo().await.unwrap();
        assert_eq!(free(), before);
        let refused = fault(9 * MEGABYTE).inject().await.map(drop).unwrap_err().to_string();
        assert!(refused.contains("bytes left already"), "{refused}");
        assert_eq!(fs::read_dir(disk.path()).unwrap().count(), 0);
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
