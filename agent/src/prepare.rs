//! Everything that must be true before a broker starts.
//!
//! The disk is looked at first and last: nothing is written for a broker whose
//! disk is not its own. `format.args` is there only when formatting is allowed.

use crate::ballast;
use crate::disk::{self, DiskCheck, DiskFault};
use crate::launcher::{Launch, Launcher};
use crate::place::{Place, remove_file};
use host::Slot;
use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};
use wire::agent::{Desired, DesiredBroker};

#[derive(Debug, thiserror::Error)]
pub enum PrepareError {
    #[error(transparent)]
    Disk(#[from] DiskFault),
    #[error("{} can't be written: {source}", path.display())]
    Io { path: PathBuf, source: io::Error },
    #[error("{0:?} is no name for a logging configuration")]
    BadName(String),
    #[error("{0}")]
    Launch(String),
}

/// What a start needs.
pub struct Prepared {
    pub launch: Launch,
    pub start_slot: Option<Slot>,
}

/// Files, jars and caches for a start, and then a slot to start in. Can be dropped at any
/// point.
pub async fn prepare(
    place: &Place,
    launcher: &dyn Launcher,
    desired: &Desired,
    broker: &DesiredBroker,
    start_slot: impl Future<Output = Option<Slot>>,
    progress: &(dyn Fn(String) + Send + Sync),
) -> Result<Prepared, PrepareError> {
    disk::check(place, desired)?;
    ballast::make_room(place, launcher.room_to_start())?;
    write_files(place, broker)?;
    let launch = launcher.prepare(broker, progress).await.map_err(PrepareError::Launch)?;
    let start_slot = start_slot.await;
    // Much may have happened to the disk while jars were fetched or others started.
    ballast::make_room(place, launcher.room_to_start())?;
    match disk::check(place, desired)? {
        DiskCheck::Ready => {
            let noted = disk::note_formatted(place, desired);
            noted.map_err(|source| PrepareError::Io { path: place.disk(), source })?;
            forbid_format(place)?;
        }
        DiskCheck::MayFormat => allow_format(place, launcher, desired)?,
    }
    Ok(Prepared { launch, start_slot })
}

fn write_files(place: &Place, broker: &DesiredBroker) -> Result<(), PrepareError> {
    let mut parts = Path::new(&broker.logging_file).components();
    if !matches!((parts.next(), parts.next()), (Some(Component::Normal(_)), None)) {
        return Err(PrepareError::BadName(broker.logging_file.clone()));
    }
    write(place.dir().join("server.properties"), &broker.properties)?;
    write(place.dir().join(&broker.logging_file), &broker.logging)
}

fn allow_format(
    place: &Place,
    launcher: &dyn Launcher,
    desired: &Desired,
) -> Result<(), PrepareError> {
    let Some(format) = &desired.disk.format else { return forbid_format(place) };
    write(place.format_arguments(), &launcher.format_arguments(desired, format))
}

fn forbid_format(place: &Place) -> Result<(), PrepareError> {
    let path = place.format_arguments();
    remove_file(&path).map_err(|source| PrepareError::Io { path, source })
}

/// The configuration may name passwords, so it is private.
fn write(path: PathBuf, text: &str) -> Result<(), PrepareError> {
    if fs::read(&path).is_ok_and(|present| present == text.as_bytes()) {
        return Ok(());
    }
    host::write_private(&path, text.as_bytes()).map_err(|source| PrepareError::Io { path, source })
}
