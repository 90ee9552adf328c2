//! What can go wrong on one host, in sentences, and whether waiting helps.

use cloud::{Outcome, Refusal, Remedy};
use ipnet::Ipv4Net;
use model::{DiskId, InstanceId, ServerId};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::time::Duration;

#[derive(Debug, thiserror::Error)]
pub enum LocalError {
    #[error("the file system of {} is full; free some space and it goes on by itself", .0.display())]
    Full(PathBuf),
    #[error("{} can't be changed by this user; check its owner and permissions", .0.display())]
    NotAllowed(PathBuf),
    #[error("{}: {source}", path.display())]
    Io { path: PathBuf, source: io::Error },
    #[error("{} is refused: {why}; move it away if it is not needed", path.display())]
    Foreign { path: PathBuf, why: String },
    #[error("disk {disk} is still used by server {server}")]
    InUse { disk: DiskId, server: ServerId },
    #[error("the processes of server {0} are still ending")]
    StillEnding(ServerId),
    #[error(transparent)]
    Fenced(#[from] Refusal),
    #[error(
        "process {holder} is in the middle of a step for instance {instance}; if it does not go \
         on, end it"
    )]
    Held { instance: InstanceId, holder: u32 },
    #[error("server {server} is at incarnation {present} already")]
    Outdated { server: ServerId, present: i64 },
    #[error("the program {} can't be started: {source}", path.display())]
    Start { path: PathBuf, source: io::Error },
    #[error(
        "no uid from {first} to {last} is free for one more instance; widen uids under [local]"
    )]
    NoUid { first: u32, last: u32 },
    #[error(transparent)]
    Network(#[from] netns::Error),
    #[error("no address of {0} is free for one more server")]
    NoSeat(Ipv4Net),
    #[error(
        "server {0} lives in a network of its own, and networks are not in namespaces any more; \
         set network = \"namespaces\" under [local]"
    )]
    NetworkOff(ServerId),
    #[error("process {pid} is no agent of this host")]
    NoAgent { pid: i32 },
    #[error("the work was interrupted")]
    Interrupted,
}

impl LocalError {
    /// For `map_err`: says in which file or directory it happened.
    pub(crate) fn at(path: &Path) -> impl FnOnce(io::Error) -> Self + use<> {
        let path = path.to_owned();
        move |source| match source.kind() {
            ErrorKind::StorageFull | ErrorKind::QuotaExceeded => Self::Full(path),
            ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => Self::NotAllowed(path),
            _ => Self::Io { path, source },
        }
    }

    fn remedy(&self) -> Remedy {
        match self {
            Self::NotAllowed(_)
            | Self::Foreign { .. }
            | Self::Fenced(_)
            | Self::Network(netns::Error::Description(_))
            | Self::NetworkOff(_)
            | Self::NoAgent { .. }
            | Self::Outdated { .. } => Remedy::GiveUp,
            Self::Full(_)
            | Self::Io { .. }
            | Self::InUse { .. }
            | Self::StillEnding(_)
            | Self::Held { .. }
            | Self::Start { .. }
            | Self::NoUid { .. }
            | Self::Network(_)
            | Self::NoSeat(_)
            | Self::Interrupted => Remedy::Retry,
        }
    }
}

/// A cloud's answer from a result.
pub(crate) fn outcome<T>(result: Result<T, LocalError>) -> Outcome<T> {
    let pending = |error: &LocalError, after| Outcome::Pending { reason: error.to_string(), after };
    match result {
        Ok(value) => Outcome::Ready(value),
        Err(error @ LocalError::StillEnding(_)) => pending(&error, Duration::from_millis(200)),
        // Its processes were told to end.
        Err(error @ LocalError::Network(netns::Error::InUse { .. })) => {
            pending(&error, Duration::from_secs(1))
        }
        Err(error @ LocalError::Held { .. }) => pending(&error, Duration::from_secs(1)),
        Err(LocalError::Fenced(refusal)) => Outcome::refused(refusal),
        Err(error) => {
            Outcome::Failed { reason: error.to_string(), remedy: error.remedy(), refusal: None }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn common_troubles_are_sentences() {
        let check = |kind: ErrorKind, remedy: Remedy, words: &str| {
            let error = LocalError::at(Path::new("/data/disks"))(kind.into());
            assert_eq!(error.remedy(), remedy);
            assert_eq!(error.to_string(), words);
        };
        check(
            ErrorKind::StorageFull,
            Remedy::Retry,
            "the file system of /data/disks is full; free some space and it goes on by itself",
        );
        check(
            ErrorKind::PermissionDenied,
            Remedy::GiveUp,
            "/data/disks can't be changed by this user; check its owner and permissions",
        );
        check(ErrorKind::TimedOut, Remedy::Retry, "/data/disks: timed out");
    }
}
