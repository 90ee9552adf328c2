//! The marks that keep earlier owners of an instance out, as one small file for
//! each instance.
//!
//! The file is locked for as long as an effect lasts, so nothing of an earlier
//! owner happens after a later one has begun, whatever process either is in. A
//! control plane that is stopped in the middle of an effect holds the others up
//! until it goes on or ends: two must not work on one directory.
//!
//! A mark is needed only while a control plane lives that may come too late, so
//! none outlives the processes that its instance had to be kept from.

use crate::layout::{Layout, remove};
use crate::{LocalError, planes};
use cloud::{Epoch, Kind, Mark, Owner};
use host::ProcessId;
use model::InstanceId;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::fs::{self, File, TryLockError};
use std::io::{self, ErrorKind};
use std::os::unix::fs::{FileExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::sync::OwnedMutexGuard;
use tokio::time::{Instant, sleep};

/// How long one call waits for another process to end its effect.
const PATIENCE: Duration = Duration::from_secs(2);
const GLANCE: Duration = Duration::from_millis(10);

/// The first line of an instance's file.
#[derive(Debug, Serialize, Deserialize)]
struct Line {
    store: i64,
    lease: i64,
    /// Who wrote it, for people.
    pid: u32,
    /// Present once the instance is gone: who may still come too late.
    #[serde(default)]
    kept_from: Option<Vec<ProcessId>>,
}

impl Line {
    fn mark(&self) -> Mark {
        let epoch = Epoch { store: self.store, lease: self.lease };
        Mark { epoch, retired: self.kept_from.is_some() }
    }
}

#[derive(Debug)]
pub(crate) struct Fences {
    layout: Layout,
    /// Effects of this process for one instance take turns here first.
    turns: Mutex<HashMap<InstanceId, Arc<tokio::sync::Mutex<()>>>>,
}

/// Leave for one effect. No other worker acts on the instance while it is held.
#[derive(Debug)]
pub(crate) struct Leave {
    file: File,
    path: PathBuf,
    _turn: OwnedMutexGuard<()>,
}

impl Fences {
    /// A control plane that is alone on its host finds no other that could come
    /// too late, and begins with no marks.
    pub(crate) fn open(layout: &Layout) -> Result<Self, LocalError> {
        let fences = Self { layout: layout.clone(), turns: Mutex::default() };
        if planes::others(layout).is_empty() {
            for (_, path) in layout.fences()? {
                remove(&path)?;
            }
        }
        Ok(fences)
    }

    /// Waits for its turn; refused if a later owner was here.
    pub(crate) async fn enter(&self, by: &Owner, kind: Kind) -> Result<Leave, LocalError> {
        let turn = Arc::clone(
            self.turns
                .lock()
                .expect("no holder of this lock panics")
                .entry(by.instance_id)
                .or_default(),
        );
        let turn = turn.lock_owned().await;
        let path = self.layout.fence(by.instance_id);
        let file = lock(&path, by.instance_id).await?;
        let before = read(&file);
        let mark = Mark::admit(before.as_ref().map(Line::mark), by, kind)?;
        let kept_from = before.and_then(|line| line.kept_from).filter(|_| mark.retired);
        write(&file, by, kept_from).map_err(LocalError::at(&path))?;
        Ok(Leave { file, path, _turn: turn })
    }

    /// Keeps the mark of an instance that is gone while another control plane
    /// may come too late, and forgets the marks of others for which none can
    /// any more.
    pub(crate) fn retire(&self, leave: &Leave, by: &Owner) -> Result<(), LocalError> {
        let others = planes::others(&self.layout);
        if others.is_empty() {
            remove(&leave.path)?;
        } else {
            write(&leave.file, by, Some(others)).map_err(LocalError::at(&leave.path))?;
        }
        self.turns.lock().expect("no holder of this lock panics").remove(&by.instance_id);
        self.sweep()
    }

    fn sweep(&self) -> Result<(), LocalError> {
        for (_, path) in self.layout.fences()? {
            let Ok(file) = open(&path) else { continue };
            if file.try_lock().is_err() {
                continue;
            }
            let kept_from = read(&file).and_then(|line| line.kept_from);
            if kept_from.is_some_and(|planes| !planes.iter().any(ProcessId::is_alive)) {
                remove(&path)?;
            }
        }
        Ok(())
    }
}

/// The instance's file, locked. One that was removed while we waited stands for
/// nothing any more, and is made anew.
async fn lock(path: &Path, instance: InstanceId) -> Result<File, LocalError> {
    let deadline = Instant::now() + PATIENCE;
    loop {
        let file = open(path).map_err(LocalError::at(path))?;
        match file.try_lock() {
            Ok(()) if is_still(&file, path) => return Ok(file),
            Ok(()) => continue,
            Err(TryLockError::WouldBlock) => {}
            Err(TryLockError::Error(error)) => return Err(LocalError::at(path)(error)),
        }
        if Instant::now() > deadline {
            let holder = read(&file).map_or(0, |line| line.pid);
            return Err(LocalError::Held { instance, holder });
        }
        sleep(GLANCE).await;
    }
}

fn open(path: &Path) -> io::Result<File> {
    File::options().read(true).write(true).create(true).truncate(false).open(path)
}

fn is_still(file: &File, path: &Path) -> bool {
    let identity = |found: &fs::Metadata| (found.dev(), found.ino());
    match (file.metadata(), fs::metadata(path)) {
        (Ok(held), Ok(present)) => identity(&held) == identity(&present),
        _ => false,
    }
}

/// None if the file is new.
fn read(file: &File) -> Option<Line> {
    let mut text = vec![0; usize::try_from(file.metadata().ok()?.len()).ok()?];
    match file.read_exact_at(&mut text, 0) {
        Err(error) if error.kind() != ErrorKind::UnexpectedEof => return None,
        _ => {}
    }
    serde_json::from_slice(text.split(|byte| *byte == b'\n').next()?).ok()
}

/// In one write, and then without what was longer before: whenever a process is
/// killed in between, the first line is whole. It need not reach the disk: when
/// the machine stops, so do all who could come too late.
fn write(file: &File, by: &Owner, kept_from: Option<Vec<ProcessId>>) -> io::Result<()> {
    let Epoch { store, lease } = by.epoch;
    let line = Line { store, lease, pid: std::process::id(), kept_from };
    let mut text = serde_json::to_vec(&line).expect("plain data serialises");
    text.push(b'\n');
    file.write_all_at(&text, 0)?;
    file.set_len(u64::try_from(text.len()).expect("a line is short"))
}

#[cfg(test)]
#[path = "fences_tests.rs"]
mod tests;
