//! Why a fault could not be put in or taken out.

use std::fmt::Display;
use std::io;
use std::path::Path;

#[derive(Debug, thiserror::Error)]
pub enum FaultError {
    /// This machine, or this user on it, can't do such a thing.
    #[error("{what} can't be had here: {reason}")]
    Unavailable { what: &'static str, reason: String },
    #[error("process {0} has ended")]
    Ended(i32),
    #[error("{what}: {source}")]
    Io { what: String, source: io::Error },
}

impl FaultError {
    pub(crate) fn unavailable(what: &'static str, reason: impl Display) -> Self {
        Self::Unavailable { what, reason: reason.to_string() }
    }

    pub(crate) fn at(path: &Path) -> impl Fn(io::Error) -> Self {
        move |source| Self::Io { what: path.display().to_string(), source }
    }
}
