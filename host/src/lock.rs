//! One owner of a directory at a time.

use std::fs::{self, File, TryLockError};
use std::io::{self, Seek, Write};
use std::path::{Path, PathBuf};

/// Why a directory could not be taken.
#[derive(Debug, thiserror::Error)]
pub enum LockError {
    #[error("{} is in use by process {holder}", path.display())]
    Held { path: PathBuf, holder: String },
    #[error("{} can't be locked: {source}", path.display())]
    Io { path: PathBuf, source: io::Error },
}

/// Holds a directory until dropped, or until the process ends in any way.
#[derive(Debug)]
pub struct DirLock {
    _file: File,
}

impl DirLock {
    /// Takes the directory, or says who has it.
    pub fn try_take(directory: &Path) -> Result<Self, LockError> {
        let path = directory.join("lock");
        let io = |source| LockError::Io { path: path.clone(), source };
        let mut file = open(&path).map_err(io)?;
        match file.try_lock() {
            Ok(()) => {
                note_holder(&mut file).map_err(io)?;
                Ok(Self { _file: file })
            }
            Err(TryLockError::WouldBlock) => Err(LockError::Held {
                holder: holder(directory).map_or("unknown".into(), |pid| pid.to_string()),
                path: directory.into(),
            }),
            Err(TryLockError::Error(source)) => Err(io(source)),
        }
    }

    /// Waits until the directory is free. Blocks the thread.
    pub fn take(directory: &Path) -> Result<Self, LockError> {
        let path = directory.join("lock");
        let io = |source| LockError::Io { path: path.clone(), source };
        let mut file = open(&path).map_err(io)?;
        file.lock().map_err(io)?;
        note_holder(&mut file).map_err(io)?;
        Ok(Self { _file: file })
    }
}

/// The pid that last took the directory, if it is still held.
pub fn holder(directory: &Path) -> Option<i32> {
    let file = File::open(directory.join("lock")).ok()?;
    match file.try_lock_shared() {
        Ok(()) => None,
        Err(_) => fs::read_to_string(directory.join("lock")).ok()?.trim().parse().ok(),
    }
}

fn open(path: &Path) -> io::Result<File> {
    File::options().read(true).write(true).create(true).truncate(false).open(path)
}

fn note_holder(file: &mut File) -> io::Result<()> {
    file.set_len(0)?;
    file.rewind()?;
    write!(file, "{}", std::process::id())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_second_taker_is_told_who_has_it() {
        let directory = tempfile::tempdir().unwrap();
        let first = DirLock::try_take(directory.path()).unwrap();
        let refused = DirLock::try_take(directory.path()).unwrap_err().to_string();
        assert!(refused.contains(&std::process::id().to_string()), "{refused}");
        assert_eq!(holder(directory.path()), i32::try_from(std::process::id()).ok());
        drop(first);
        assert_eq!(holder(directory.path()), None);
        DirLock::try_take(directory.path()).unwrap();
    }
}
