//! What the process that may write to the cache does for those that may only read
//! it: a file says that it is at work on a version, or why it can't go on.

use model::KafkaVersion;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Work on one version of Kafka.
#[derive(Clone, Debug)]
pub struct Work {
    file: PathBuf,
}

impl Work {
    pub(super) fn new(cache: &Path, version: KafkaVersion) -> Self {
        Self { file: cache.join(format!("{version}.work")) }
    }

    /// Everything is under way, or this is why not.
    pub fn begin(&self, problem: Option<&str>) -> io::Result<()> {
        host::write_atomic(&self.file, problem.unwrap_or_default().as_bytes())
    }

    /// All that can be done is done.
    pub fn end(&self) -> io::Result<()> {
        match fs::remove_file(&self.file) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }

    /// Whether somebody is at work, or was until it died.
    pub fn goes_on(&self) -> bool {
        self.file.exists()
    }

    /// Why it does not go on.
    pub fn problem(&self) -> Option<String> {
        fs::read_to_string(&self.file).ok().filter(|problem| !problem.is_empty())
    }
}
