//! Where a server's files are. Its directory is also the broker's working
//! directory, so the paths in the broker's configuration are these.

use crate::successor::Home;
use std::fs;
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

    pub fn identity(&self, name: &str) -> PathBuf {
        self.dir.join("identity").join(name)
    }

    pub fn tls(&self, name: &str) -> PathBuf {
        self.dir.join("tls").join(name)
    }

    /// Where the JVM that is to follow the broker is warmed up.
    pub fn warm_home(&self) -> Home {
        Home {
            directory: self.dir.clone(),
            state: self.warm_state(),
            output: self.successor_output(),
            rehearsal: self.rehearsal(),
        }
    }
}

/// Removes a file; absent is fine.
pub fn remove_file(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

macro_rules! paths {
    ($($(#[$doc:meta])* $name:ident = $path:literal;)*) => {
        impl Place {
            $($(#[$doc])*
            pub fn $name(&self) -> PathBuf {
                self.dir.join($path)
            })*
        }
    };
}

paths! {
    start = "start.json";
    desired = "desired.json";
    agent_pid = "agent.pid";
    /// What this process prints.
    agent_log = "agent.log";
    disk = "disk";
    /// Room on the disk that is given up when there is none left.
    ballast = "disk/ballast";
    broker_pid = "run/broker.pid";
    /// Written by the broker when it has started, with its pid.
    started = "run/started";
    /// The configuration that the broker on record was started with.
    running_hash = "run/config-hash";
    /// The launch that it was started for.
    running_launch = "run/launch";
    server_log = "logs/server.log";
    /// What the JVM itself prints, before and beside its log.
    broker_output = "logs/broker.out";
    /// What a JVM that is warmed up prints, until it is the broker.
    successor_output = "logs/successor.out";
    earlier_broker_output = "logs/broker.out.1";
    /// How far the JVM is that is warmed up, with its pid.
    warm_state = "run/warm";
    /// The throw-away server that it is warmed up with.
    rehearsal = "rehearsal";
    /// Events of the server's logs on their way to where they are wanted; made when there is
    /// such a place.
    logs_spool = "logs-spool";
    format_arguments = "format.args";
    /// Where the clusters of this host take slots to start.
    start_slots = "../../starts";
    /// Where JVMs of this host that are warmed up wait for a server.
    pool = "../../pool";
    /// The newest release's program, beside all servers of this host.
    current_program = "../../bin/current";
}
