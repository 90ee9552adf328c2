//! What can go wrong, as sentences for a person.

use std::io;
use std::path::{Path, PathBuf};

#[derive(Debug, thiserror::Error)]
pub enum Fault {
    /// Of one file; the others are followed.
    #[error("the log {} can't be read, so its lines wait: {source}", path.display())]
    Log { path: PathBuf, source: io::Error },
    /// Nothing is lost while the files keep what was not read.
    #[error(
        "log lines can't be kept for their destinations in {}, so they wait in their files: \
         {source}",
        path.display()
    )]
    Write { path: PathBuf, source: io::Error },
    #[error("log lines that were kept in {} can't be read: {source}", path.display())]
    Read { path: PathBuf, source: io::Error },
}

impl Fault {
    pub(crate) fn log(path: &Path, source: io::Error) -> Self {
        Self::Log { path: path.into(), source }
    }

    pub(crate) fn write(path: &Path, source: io::Error) -> Self {
        Self::Write { path: path.into(), source }
    }

    pub(crate) fn read(path: &Path, source: io::Error) -> Self {
        Self::Read { path: path.into(), source }
    }
}
