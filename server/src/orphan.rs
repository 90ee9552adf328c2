//! One thing on this host that the store does not know, and its name on the
//! command line.

use anyhow::{Context, Error, Result, bail};
use cloud_local::holdings::{HeldDisk, HeldServer, bytes_under};
use model::{DiskId, InstanceId, ServerId, VpcId};
use serde_json::{Value, json};
use std::fmt;
use std::str::FromStr;

/// `server/12`, `disk/<uuid>` or `network/3`: servers and networks both have
/// numbers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum OrphanId {
    Server(ServerId),
    Disk(DiskId),
    Network(VpcId),
}

pub enum Orphan {
    Server(HeldServer),
    Disk(HeldDisk),
    Network(VpcId),
}

impl FromStr for OrphanId {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let odd = || format!("{text:?} is no id; give one such as server/12");
        let (kind, id) = text.split_once('/').with_context(odd)?;
        Ok(match kind {
            "server" => Self::Server(id.parse().with_context(odd)?),
            "disk" => Self::Disk(id.parse().with_context(odd)?),
            "network" => Self::Network(id.parse().with_context(odd)?),
            _ => bail!(odd()),
        })
    }
}

impl fmt::Display for OrphanId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Server(id) => write!(f, "server/{id}"),
            Self::Disk(id) => write!(f, "disk/{id}"),
            Self::Network(id) => write!(f, "network/{id}"),
        }
    }
}

impl Orphan {
    pub fn id(&self) -> OrphanId {
        match self {
            Self::Server(server) => OrphanId::Server(server.id),
            Self::Disk(disk) => OrphanId::Disk(disk.id),
            Self::Network(id) => OrphanId::Network(*id),
        }
    }

    /// None where nothing on the host says so.
    pub fn instance(&self) -> Option<InstanceId> {
        match self {
            Self::Server(server) => server.instance_id,
            Self::Disk(disk) => Some(disk.instance_id),
            Self::Network(_) => None,
        }
    }

    fn bytes(&self) -> u64 {
        match self {
            Self::Server(server) => bytes_under(&server.path),
            Self::Disk(disk) => bytes_under(&disk.path),
            Self::Network(_) => 0,
        }
    }

    fn pids(&self) -> Vec<i32> {
        let Self::Server(HeldServer { running: Some(running), .. }) = self else {
            return Vec::new();
        };
        running.agent.iter().chain(&running.brokers).map(|process| process.pid).collect()
    }

    pub fn json(&self) -> Value {
        let (kind, _) = self.kind_and_size();
        json!({
            "kind": kind,
            "id": self.id().to_string(),
            "instance_id": self.instance(),
            "bytes": self.bytes(),
            "pids": self.pids(),
        })
    }

    fn kind_and_size(&self) -> (&'static str, String) {
        let size = |bytes: u64| format!("{} MiB", bytes.div_ceil(1 << 20));
        match self {
            Self::Server(_) => ("server", size(self.bytes())),
            Self::Disk(_) => ("disk", size(self.bytes())),
            Self::Network(_) => ("network", "-".to_owned()),
        }
    }

    /// For the question before it is removed.
    pub fn with_what(&self) -> String {
        let (_, size) = self.kind_and_size();
        match self {
            Self::Server(_) if self.pids().is_empty() => format!("{}, which is stopped", self.id()),
            Self::Server(_) => format!("{}, stopping its broker", self.id()),
            Self::Disk(_) => format!("{} with all {size} of data on it", self.id()),
            Self::Network(_) => self.id().to_string(),
        }
    }
}

/// One line of the list: kind, id, instance, size, whether it runs.
impl fmt::Display for Orphan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (kind, size) = self.kind_and_size();
        let instance = self.instance().map_or("-".to_owned(), |id| format!("instance {id}"));
        let pids: Vec<String> = self.pids().iter().map(ToString::to_string).collect();
        let runs = match (self, pids.is_empty()) {
            (Self::Server(_), true) => "stopped".to_owned(),
            (Self::Server(_), false) => format!("running as {}", pids.join(", ")),
            _ => String::new(),
        };
        let id = self.id().to_string();
        write!(f, "{}", format!("{kind:<8} {id:<42} {instance:<12} {size:>9}  {runs}").trim_end())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_read_as_it_is_shown() {
        let check = |text: &str| assert_eq!(text.parse::<OrphanId>().unwrap().to_string(), text);
        check("server/12");
        check("network/12");
        check("disk/0b6e2d5c-4f0f-4c0e-9d5a-0d6b8f2f7a11");
        for odd in ["12", "server/x", "disk/12", "cluster/1", "server/"] {
            assert!(odd.parse::<OrphanId>().is_err(), "{odd}");
        }
    }

    #[test]
    fn a_line_says_kind_id_instance_size_and_whether_it_runs() {
        let check = |orphan: &Orphan, expected: &str| {
            let line = orphan.to_string();
            assert_eq!(line.split_whitespace().collect::<Vec<_>>().join(" "), expected);
        };
        let path = std::path::PathBuf::from("/nonexistent");
        let stopped = HeldServer {
            id: ServerId(12),
            instance_id: Some(InstanceId(5)),
            incarnation: Some(1),
            running: None,
            path: path.clone(),
        };
        let id: DiskId = "0b6e2d5c-4f0f-4c0e-9d5a-0d6b8f2f7a11".parse().unwrap();
        let disk = HeldDisk { id, instance_id: InstanceId(5), server_id: ServerId(12), path };
        check(&Orphan::Server(stopped), "server server/12 instance 5 0 MiB stopped");
        check(&Orphan::Disk(disk), &format!("disk disk/{id} instance 5 0 MiB"));
        check(&Orphan::Network(VpcId(3)), "network network/3 - -");
    }
}
