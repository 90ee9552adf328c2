//! One owner of a directory at a time.
//!
//! The owner writes who it is into the lock's file. Looking who that is takes
//! no lock, so a look never stands in the way of somebody who starts.

use crate::ProcessId;
use std::fs::{self, File, TryLockError};
use std::io::{self, Seek, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// The file that stands for its whole directory.
const WHOLE: &str = "lock";

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
    file: File,
}

impl Drop for DirLock {
    /// Closing the file is not enough: a process that is just being started has
    /// it open as well, until its program runs.
    fn drop(&mut self) {
        let _ = self.file.unlock();
    }
}

impl DirLock {
    /// Takes the directory, or says who has it.
    pub fn try_take(directory: &Path) -> Result<Self, LockError> {
        let path = directory.join(WHOLE);
        let io = |source| LockError::Io { path: path.clone(), source };
        let file = open(&path).map_err(io)?;
        match file.try_lock() {
            Ok(()) => Self::owned(file).map_err(io),
            Err(TryLockError::WouldBlock) => Err(LockError::Held {
                holder: holder(directory).map_or("unknown".into(), |it| it.pid.to_string()),
                path: directory.into(),
            }),
            Err(TryLockError::Error(source)) => Err(io(source)),
        }
    }

    /// Waits until the directory is free. Blocks the thread.
    pub fn take(directory: &Path) -> Result<Self, LockError> {
        Self::take_named(directory, WHOLE)
    }

    /// Waits until that file of the directory is free, which says nothing of
    /// the directory's other files. Blocks the thread.
    pub fn take_named(directory: &Path, name: &str) -> Result<Self, LockError> {
        let path = directory.join(name);
        let io = |source| LockError::Io { path: path.clone(), source };
        let file = open(&path).map_err(io)?;
        file.lock().map_err(io)?;
        Self::owned(file).map_err(io)
    }

    /// Waits until the directory is free, on a thread for things that block.
    pub async fn take_async(directory: PathBuf) -> Result<Self, LockError> {
        let path = directory.clone();
        let taken = tokio::task::spawn_blocking(move || Self::take(&directory));
        // Only a runtime that shuts down gives up the wait.
        let interrupted = |_| LockError::Io { path, source: io::ErrorKind::Interrupted.into() };
        taken.await.map_err(interrupted)?
    }

    fn owned(mut file: File) -> io::Result<Self> {
        let owner = serde_json::to_vec(&ProcessId::own()).expect("plain data serialises");
        file.set_len(0)?;
        file.rewind()?;
        file.write_all(&owner)?;
        Ok(Self { file })
    }
}

/// The live process that holds the directory. Only this user's can be seen.
pub fn holder(directory: &Path) -> Option<ProcessId> {
    let path = directory.join(WHOLE);
    let owner = ProcessId::load(&path)?;
    (holds(&owner, &path) && owner.is_alive()).then_some(owner)
}

/// Whether the process has the file open and locked, by what the kernel says
/// of its open files.
fn holds(process: &ProcessId, path: &Path) -> bool {
    let Ok(wanted) = fs::metadata(path) else { return false };
    let of_process = PathBuf::from(format!("/proc/{}", process.pid));
    let Ok(open_files) = fs::read_dir(of_process.join("fd")) else { return false };
    open_files.flatten().any(|entry| {
        let is_it = fs::metadata(entry.path())
            .is_ok_and(|file| (file.dev(), file.ino()) == (wanted.dev(), wanted.ino()));
        is_it && is_locked(&of_process.join("fdinfo").join(entry.file_name()))
    })
}

fn is_locked(description: &Path) -> bool {
    let text = fs::read_to_string(description).unwrap_or_default();
    text.lines().any(|line| line.starts_with("lock:") && line.contains("FLOCK"))
}

/// Private: whoever may read a file can lock it, and keep us out.
fn open(path: &Path) -> io::Result<File> {
    let mut options = File::options();
    options.read(true).write(true).create(true).truncate(false).mode(0o600).open(path)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn the_second_taker_is_told_who_has_it() {
        let directory = tempfile::tempdir().unwrap();
        let first = DirLock::try_take(directory.path()).unwrap();
        let refused = DirLock::try_take(directory.path()).unwrap_err().to_string();
        assert!(refused.contains(&std::process::id().to_string()), "{refused}");
        assert_eq!(holder(directory.path()), Some(ProcessId::own()));
        drop(first);
        assert_eq!(holder(directory.path()), None);
        DirLock::take(directory.path()).unwrap();
    }

    #[test]
    fn whoever_looks_for_the_holder_keeps_nobody_out() {
        let directory = tempfile::tempdir().unwrap();
        drop(DirLock::take(directory.path()).unwrap());
        let path = directory.path();
        std::thread::scope(|threads| {
            let looking = threads.spawn(|| (0..2000).for_each(|_| drop(holder(path))));
            let file = open(&path.join(WHOLE)).unwrap();
            while !looking.is_finished() {
                file.try_lock().expect("nobody else has it");
                file.unlock().unwrap();
            }
        });
    }

    #[test]
    fn a_record_of_another_process_or_of_none_names_nobody() {
        let directory = tempfile::tempdir().unwrap();
        let _lock = DirLock::take(directory.path()).unwrap();
        let own = ProcessId::own();
        let check = |text: &str, expected: Option<ProcessId>| {
            fs::write(directory.path().join(WHOLE), text).unwrap();
            assert_eq!(holder(directory.path()), expected, "{text}");
        };
        let json = |process: &ProcessId| serde_json::to_string(process).unwrap();
        check(&json(&own), Some(own.clone()));
        check(&json(&ProcessId { start_time: own.start_time - 1, ..own.clone() }), None);
        // It lives, and holds something else.
        check(&json(&ProcessId::from_pid(1).unwrap()), None);
        check("", None);
    }

    #[tokio::test]
    async fn one_that_waits_gets_it_when_it_is_free() {
        let directory = tempfile::tempdir().unwrap();
        let first = DirLock::take_async(directory.path().into()).await.unwrap();
        let waiting = tokio::spawn(DirLock::take_async(directory.path().into()));
        // Another name is another lock.
        drop(DirLock::take_named(directory.path(), "other").unwrap());
        assert!(!waiting.is_finished());
        drop(first);
        let second = tokio::time::timeout(Duration::from_secs(20), waiting).await;
        second.expect("it is free").unwrap().unwrap();
    }
}
