//! Bad luck, on purpose: each fault is put in by [`Fault::inject`] and taken out
//! again by what that returns, at the latest when it is dropped.
//!
//! For tests and benchmarks. A process is only ever hit if it is still the one
//! that was meant. What a machine does not allow is [`FaultError::Unavailable`],
//! with the reason: a test that needs it says so instead of passing.

mod burn;
mod clock_step;
mod cut_connections;
mod error;
mod fill_memory;
mod full_disk;
mod guest;
mod kill;
mod pause;
mod slow_disk;
mod small_disk;
mod store_away;
#[cfg(test)]
mod testing;
mod throttle;

pub use error::FaultError;
pub use small_disk::SmallDisk;
pub use store_away::Store;

use host::ProcessId;
use std::fmt;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

#[derive(Clone, Debug)]
pub enum Fault {
    /// kill -9. There is nothing to undo: somebody looks after it.
    Kill(ProcessId),
    /// SIGSTOP, and SIGCONT to undo it.
    Pause(ProcessId),
    /// Not a byte is left on the file system of that directory, which must be
    /// a small one: see [`SmallDisk`].
    FullDisk(PathBuf),
    /// The same, but so many bytes are left, to within a block.
    FillDisk { directory: PathBuf, left: u64 },
    /// The process reads and writes the disk of that directory no faster.
    SlowDisk { process: ProcessId, directory: PathBuf, bytes_per_second: u64 },
    /// The store does not answer.
    StoreAway(Store),
    /// Our own processes that were started with
    /// [`STEPPED_CLOCK`](Fault::STEPPED_CLOCK) naming that file see another time.
    ClockStep { file: PathBuf, by: Step },
    /// The TCP connections to and from these addresses are reset, once.
    CutConnections(Vec<SocketAddr>),
    /// The process, a JVM of a JDK, keeps a core busy besides what it does.
    Burn(ProcessId),
    /// The process, a JVM of a JDK, holds so much memory besides what it needs.
    FillMemory { process: ProcessId, bytes: u64 },
}

/// A step of a clock.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Step {
    Forward(Duration),
    Back(Duration),
}

impl Fault {
    /// The variable that names the file of [`Fault::ClockStep`] to a process.
    pub const STEPPED_CLOCK: &str = "CASTELLAN_TEST_CLOCK";

    /// Kills a process that somebody looks after.
    pub fn kill(process: &ProcessId) -> Self {
        Self::Kill(process.clone())
    }

    /// On return it is there.
    pub async fn inject(&self) -> Result<Injected, FaultError> {
        let undo = match self {
            Self::Kill(process) => kill::inject(process).await?,
            Self::Pause(process) => pause::inject(std::slice::from_ref(process)).await?,
            Self::FullDisk(directory) => full_disk::inject(directory, 0)?,
            Self::FillDisk { directory, left } => full_disk::inject(directory, *left)?,
            Self::SlowDisk { process, directory, bytes_per_second } => {
                slow_disk::inject(process, directory, *bytes_per_second)?
            }
            Self::StoreAway(store) => store.take_away().await?,
            Self::ClockStep { file, by } => clock_step::inject(file, *by)?,
            Self::CutConnections(addresses) => cut_connections::inject(addresses).await?,
            Self::Burn(process) => burn::inject(process).await?,
            Self::FillMemory { process, bytes } => fill_memory::inject(process, *bytes).await?,
        };
        Ok(Injected { what: self.to_string(), undo: Some(undo) })
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Kill(process) => write!(f, "kill -9 of process {}", process.pid),
            Self::Pause(process) => write!(f, "SIGSTOP of process {}", process.pid),
            Self::FullDisk(directory) => write!(f, "a full disk at {}", directory.display()),
            Self::FillDisk { directory, left } => {
                write!(f, "a disk with {left} bytes left at {}", directory.display())
            }
            Self::SlowDisk { process, bytes_per_second, .. } => {
                write!(f, "a disk of {bytes_per_second} bytes a second for process {}", process.pid)
            }
            Self::StoreAway(store) => write!(f, "{store} away"),
            Self::ClockStep { by: Step::Forward(by), .. } => write!(f, "clocks {by:?} ahead"),
            Self::ClockStep { by: Step::Back(by), .. } => write!(f, "clocks {by:?} back"),
            Self::CutConnections(addresses) => write!(f, "connections cut at {addresses:?}"),
            Self::Burn(process) => write!(f, "a burning core in process {}", process.pid),
            Self::FillMemory { process, bytes } => {
                write!(f, "{bytes} bytes of memory held in process {}", process.pid)
            }
        }
    }
}

type Undo = Box<dyn FnOnce() -> Result<(), FaultError> + Send>;

/// A fault that is there, until undone or dropped.
#[must_use = "the fault ends when this is dropped"]
pub struct Injected {
    what: String,
    undo: Option<Undo>,
}

impl Injected {
    /// Takes it out. What is out already stays so.
    pub async fn undo(&mut self) -> Result<(), FaultError> {
        match self.undo.take() {
            Some(undo) => tokio::task::spawn_blocking(undo).await.expect("undoing does not panic"),
            None => Ok(()),
        }
    }
}

impl Drop for Injected {
    fn drop(&mut self) {
        if let Some(undo) = self.undo.take()
            && let Err(error) = undo()
        {
            tracing::warn!(fault = self.what, %error, "a fault could not be undone");
        }
    }
}
