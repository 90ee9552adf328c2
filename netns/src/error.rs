//! What can go wrong, in sentences.

use ipnet::Ipv4Net;
use std::io;
use std::path::PathBuf;

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("the program {program} can't be started: {source}; install {package}")]
    Program { program: &'static str, package: &'static str, source: io::Error },
    #[error("this host's kernel refused {what}: {said}")]
    Refused { what: String, said: String },
    #[error("{program} was not understood: {said}")]
    Answer { program: &'static str, said: String },
    #[error("{}: {source}", path.display())]
    Io { path: PathBuf, source: io::Error },
    #[error("this network can't be made: {0}")]
    Description(String),
    #[error(
        "{block} leads to {link} on this host, not to the network that shall have it; remove that \
         route, or the network"
    )]
    RangeTaken { block: Ipv4Net, link: String },
    #[error("no range of {0} is free for one more network on this host")]
    NoSlot(Ipv4Net),
    #[error("processes still run in {namespace}: {pids}; it is removed when they have ended")]
    InUse { namespace: String, pids: String },
    #[error("it was interrupted before {0}")]
    Interrupted(String),
}

impl Error {
    pub(crate) fn at(path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |source| Self::Io { path, source }
    }
}
