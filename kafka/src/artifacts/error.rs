//! Why Kafka could not be had. Each is one sentence a person can act on.

use model::KafkaVersion;
use std::io;
use std::path::{Path, PathBuf};

#[derive(Debug, thiserror::Error)]
pub enum ArtifactError {
    #[error("Kafka {0} is not supported: choose one of the versions that are offered")]
    Unsupported(KafkaVersion),
    #[error(
        "Kafka {0} can't be fetched because Maven is not installed: install `mvn`, or name an \
         unpacked Kafka {0}"
    )]
    NoMaven(KafkaVersion),
    #[error(
        "Kafka {version} can't be fetched because its repository can't be reached ({reason}): \
         check the network and Maven's settings, or name an unpacked Kafka {version}"
    )]
    Unreachable { version: KafkaVersion, reason: String },
    #[error("Kafka {version} can't be fetched, Maven says: {reason}")]
    Maven { version: KafkaVersion, reason: String },
    #[error(
        "{jar} is not the file that belongs to Kafka {version}, its SHA-256 sum differs: remove \
         it from Maven's local repository, and check where Maven downloads from"
    )]
    Checksum { version: KafkaVersion, jar: String },
    #[error("{jar} is missing from what Maven fetched for Kafka {version}: try again")]
    Missing { version: KafkaVersion, jar: String },
    #[error("{} is not an unpacked Kafka {version}: {found}", path.display())]
    NotKafka { version: KafkaVersion, path: PathBuf, found: String },
    #[error(
        "{} can't be used as a cache, because {reason}: set another one with cache under [local], \
         such as /var/cache/castellan",
        path.display()
    )]
    Unsafe { path: PathBuf, reason: String },
    #[error(
        "{} is closed to the user of this process: open the cache with chmod -R a+rX, or set \
         another one",
        .0.display()
    )]
    Closed(PathBuf),
    #[error("the disk of {} is full: make room for 200 MB, or set another cache directory", .0.display())]
    DiskFull(PathBuf),
    #[error("{} can't be used as a cache ({source}): make it writable, or set another one", path.display())]
    Cache { path: PathBuf, source: io::Error },
}

impl ArtifactError {
    /// The same for what is only read.
    pub(crate) fn read(path: &Path, source: io::Error) -> Self {
        match source.kind() {
            io::ErrorKind::PermissionDenied => Self::Closed(path.to_owned()),
            _ => Self::io(path, source),
        }
    }

    pub(crate) fn io(path: &Path, source: io::Error) -> Self {
        match source.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
                Self::DiskFull(path.to_owned())
            }
            _ => Self::Cache { path: path.to_owned(), source },
        }
    }
}
