//! Where a server's files are. Its directory is also the broker's working
//! directory, so the paths in the broker's configuration are these.

use std::io;
use std::path::{Path, PathBuf};

#[derive(Clone, Debug)]
pub struct Place {
    dir: PathBuf,
}

impl Place {
    /// Makes the directories that agent and broker write to.
    pub fn open(dir: &Path) -> io::Result<Self> {
        let place = Self { dir: dir.canonicalize()? };
        for name in ["identity", "tls", "tls/keys", "run", "logs"] {
            host::create_private_dir(&place.dir.join(name))?;
        }
        Ok(place)
    }

    pub fn dir(&self) -> &Path {
        &self.dir
    }

    pub fn start(&self) -> PathBuf {
        self.dir.join("start.json")
    }

    pub fn desired(&self) -> PathBuf {
        self.dir.join("desired.json")
    }

    pub fn agent_pid(&self) -> PathBuf {
        self.dir.join("agent.pid")
    }

    /// What this process prints.
    pub fn agent_log(&self) -> PathBuf {
        self.dir.join("agent.log")
    }

    pub fn identity(&self, name: &str) -> PathBuf {
        self.dir.join("identity").join(name)
    }

    pub fn tls(&self, name: &str) -> PathBuf {
        self.dir.join("tls").join(name)
    }

    pub fn disk(&self) -> PathBuf {
        self.dir.join("disk")
    }

    /// Room on the disk that is given up when there is none left.
    pub fn ballast(&self) -> PathBuf {
        self.disk().join("ballast")
    }

    pub fn broker_pid(&self) -> PathBuf {
        self.dir.join("run/broker.pid")
    }

    /// Written by the broker when it has started, with its pid.
    pub fn started(&self) -> PathBuf {
        self.dir.join("run/started")
    }

    /// The configuration that the broker on record was started with.
    pub fn running_hash(&self) -> PathBuf {
        self.dir.join("run/config-hash")
    }

    /// The launch that it was started for.
    pub fn running_launch(&self) -> PathBuf {
        self.dir.join("run/launch")
    }

    pub fn server_log(&self) -> PathBuf {
        self.dir.join("logs/server.log")
    }

    /// What the JVM itself prints, before and beside its log.
    pub fn broker_output(&self) -> PathBuf {
        self.dir.join("logs/broker.out")
    }

    pub fn format_arguments(&self) -> PathBuf {
        self.dir.join("format.args")
    }

    /// Where the clusters of this host take turns to start.
    pub fn turns(&self) -> PathBuf {
        self.dir.join("../../starts")
    }

    /// The newest release's program, beside all servers of this host.
    pub fn current_program(&self) -> PathBuf {
        self.dir.join("../../bin/current")
    }
}
