//! What long work says while it goes on.

use model::KafkaVersion;
use std::fmt;

/// A step of fetching Kafka or of making a start-up cache.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Progress {
    /// Another process does the same work; we take its result.
    Waiting,
    /// The process that may write to the cache has not fetched this yet, or can't.
    WaitingForKafka { version: KafkaVersion, problem: Option<String> },
    /// Maven reads what the jars need before it fetches the first one.
    Describing { version: KafkaVersion, descriptions: usize },
    /// Jars seen so far, of those the release has.
    Fetching { version: KafkaVersion, done: usize, total: usize },
    /// All jars are there and are compared with their known sums.
    Checking { version: KafkaVersion },
    /// A broker is started once to record what later starts can reuse.
    Training { version: KafkaVersion, java: u16 },
}

impl fmt::Display for Progress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Waiting => f.write_str("waiting for another process that prepares the same"),
            Self::WaitingForKafka { version, problem: None } => {
                write!(f, "waiting for Kafka {version}, which the control plane fetches")
            }
            Self::WaitingForKafka { problem: Some(problem), .. } => f.write_str(problem),
            Self::Describing { version, descriptions } => {
                write!(f, "finding the jars of Kafka {version} ({descriptions} descriptions read)")
            }
            Self::Fetching { version, done, total } => {
                write!(f, "fetching Kafka {version} ({done} of {total} jars)")
            }
            Self::Checking { version } => write!(f, "checking Kafka {version}"),
            Self::Training { version, java } => {
                write!(f, "making a start-up cache for Kafka {version} on Java {java}")
            }
        }
    }
}
