//! Which files are followed, and within which bounds.

use crate::format::Format;
use model::LogSource;
use std::path::{Path, PathBuf};

/// The logs of one server, each by its path within the server's directory. A file that is not
/// there is followed once it is. No link is followed: the broker's user may write to the
/// directory, and must not have the agent send what that user can't read.
#[derive(Clone, Debug)]
pub struct Files {
    pub server: PathBuf,
    /// Kafka's own log, which log4j rolls by renaming it.
    pub broker: PathBuf,
    /// What the JVM printed: copied and emptied, or renamed for the next JVM's.
    pub output: PathBuf,
    /// The JVM's log of its garbage collector, which it rolls by renaming it.
    pub gc: Option<PathBuf>,
    /// The agent's own: copied and emptied.
    pub agent: PathBuf,
}

impl Files {
    pub(crate) fn each(&self) -> impl Iterator<Item = (LogSource, Format, &Path)> {
        [
            Some((LogSource::Broker, Format::Kafka, &*self.broker)),
            Some((LogSource::Output, Format::Printed, &*self.output)),
            self.gc.as_deref().map(|gc| (LogSource::GarbageCollector, Format::Jvm, gc)),
            Some((LogSource::Agent, Format::Agent, &*self.agent)),
        ]
        .into_iter()
        .flatten()
    }
}

/// In bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// What is kept on disk for all destinations together.
    pub spool: u64,
    /// One file of it; as much is dropped at a time.
    pub segment: u64,
    /// The text of an event; the rest is cut off.
    pub event: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { spool: 64 << 20, segment: 4 << 20, event: 256 << 10 }
    }
}
