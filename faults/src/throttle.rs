//! A group of processes that the kernel gives so many bytes a second of one
//! disk: control groups of the second version, or of the first.
//!
//! In the first version only what a process itself writes through to the disk
//! is slowed down, and what the kernel writes back later is not.

use crate::FaultError;
use crate::slow_disk::WHAT;
use host::ProcessId;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::Duration;

const ROOT: &str = "/sys/fs/cgroup";
const ATTEMPTS: u32 = 500;
const PAUSE: Duration = Duration::from_millis(10);

pub struct Throttle {
    group: PathBuf,
    /// Where the process was before.
    home: PathBuf,
}

impl Throttle {
    /// `device` is `major:minor` of a whole disk.
    pub fn put(process: &ProcessId, device: &str, bytes: u64) -> Result<Self, FaultError> {
        let name = format!("castellan-fault-{}-{}", std::process::id(), process.pid);
        let version = Version::here()?;
        let throttle = Self { group: version.root().join(name), home: version.home(process.pid)? };
        fs::create_dir(&throttle.group).map_err(denied(&throttle.group))?;
        let put = version
            .limits(device, bytes)
            .into_iter()
            .try_for_each(|(file, line)| write(&throttle.group.join(file), &line))
            .and_then(|()| write(&throttle.group.join("cgroup.procs"), &process.pid.to_string()));
        match put {
            Ok(()) => Ok(throttle),
            Err(error) => {
                throttle.remove()?;
                Err(error)
            }
        }
    }

    /// Everybody goes back to where the process was. Whoever is forked meanwhile
    /// is in the group again, so it is emptied until it can be removed.
    pub fn remove(&self) -> Result<(), FaultError> {
        for _ in 0..ATTEMPTS {
            let members = fs::read_to_string(self.group.join("cgroup.procs")).unwrap_or_default();
            for pid in members.lines() {
                // One that has ended in between needs no group.
                let _ = fs::write(self.home.join("cgroup.procs"), pid);
            }
            match fs::remove_dir(&self.group) {
                Err(error) if error.kind() == ErrorKind::ResourceBusy => sleep(PAUSE),
                Err(error) if error.kind() != ErrorKind::NotFound => {
                    return Err(FaultError::at(&self.group)(error));
                }
                _ => return Ok(()),
            }
        }
        Err(FaultError::at(&self.group)(ErrorKind::ResourceBusy.into()))
    }
}

enum Version {
    First,
    Second,
}

impl Version {
    fn here() -> Result<Self, FaultError> {
        let controllers = Path::new(ROOT).join("cgroup.controllers");
        let controllers = fs::read_to_string(controllers).unwrap_or_default();
        if controllers.split_whitespace().any(|name| name == "io") {
            // Where it is given to the groups below already, nothing changes.
            let _ = fs::write(Path::new(ROOT).join("cgroup.subtree_control"), "+io");
            return Ok(Self::Second);
        }
        if Path::new(ROOT).join("blkio/blkio.throttle.write_bps_device").exists() {
            return Ok(Self::First);
        }
        Err(FaultError::unavailable(WHAT, "the kernel has no control groups for disks"))
    }

    fn root(&self) -> PathBuf {
        match self {
            Self::First => Path::new(ROOT).join("blkio"),
            Self::Second => ROOT.into(),
        }
    }

    /// The group that a process is in.
    fn home(&self, pid: i32) -> Result<PathBuf, FaultError> {
        let text = fs::read_to_string(format!("/proc/{pid}/cgroup")).unwrap_or_default();
        let wanted = match self {
            Self::First => "blkio",
            Self::Second => "",
        };
        let path = text.lines().find_map(|line| {
            let mut parts = line.splitn(3, ':');
            let (_, controllers, path) = (parts.next()?, parts.next()?, parts.next()?);
            controllers.split(',').any(|name| name == wanted).then_some(path)
        });
        let path = path.ok_or(FaultError::Ended(pid))?;
        Ok(self.root().join(path.trim_start_matches('/')))
    }

    fn limits(&self, device: &str, bytes: u64) -> Vec<(&'static str, String)> {
        match self {
            Self::First => {
                let line = format!("{device} {bytes}");
                let files = ["blkio.throttle.read_bps_device", "blkio.throttle.write_bps_device"];
                files.map(|file| (file, line.clone())).into()
            }
            Self::Second => vec![("io.max", format!("{device} rbps={bytes} wbps={bytes}"))],
        }
    }
}

fn write(path: &Path, line: &str) -> Result<(), FaultError> {
    fs::write(path, line).map_err(denied(path))
}

fn denied(path: &Path) -> impl Fn(std::io::Error) -> FaultError {
    move |error| FaultError::unavailable(WHAT, format!("{}: {error}", path.display()))
}
