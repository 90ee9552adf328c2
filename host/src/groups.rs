//! Control groups: what a group of processes may take of memory, processors and
//! pids. A group that runs out of memory has one of its own processes killed.
//!
//! Both versions are known, and each controller is looked for in both: a host may
//! have the second one mounted and the controllers in the first.

use crate::ProcessId;
use procfs::process::{MountInfo, Process};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

/// A unit that delegates its group has the control plane in this one below it.
const PLANE: &str = "plane";
const PERIOD_US: u64 = 100_000;
/// A server's threads count like so many busy ones for each of its cores, against
/// each other thread of the host.
const SHARES_EACH: u64 = 4096;

#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Controller {
    Memory,
    Cpu,
    Pids,
}

impl Controller {
    const ALL: [Self; 3] = [Self::Memory, Self::Cpu, Self::Pids];

    fn name(self) -> &'static str {
        match self {
            Self::Memory => "memory",
            Self::Cpu => "cpu",
            Self::Pids => "pids",
        }
    }
}

/// Where the groups of one controller can be made.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Place {
    controller: Controller,
    unified: bool,
    directory: PathBuf,
}

/// What one group may take.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// Page cache counts, and goes before a process does.
    pub memory: u64,
    /// Cores that count when processors are short.
    pub cores: u64,
    /// Cores that are never exceeded, however idle the host is.
    pub most_cores: u64,
    pub pids: u64,
}

/// The controllers of this host.
#[derive(Clone, Debug)]
pub struct Groups(Vec<Place>);

/// One group. It is on record before it is made, because it has to be found again.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Group(Vec<Part>);

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
struct Part {
    controller: Controller,
    unified: bool,
    path: PathBuf,
}

impl Groups {
    /// Those in which this process may make groups, by trial.
    pub fn find() -> Self {
        let mounts = Process::myself().and_then(|own| own.mountinfo());
        let mounts = mounts.map(|mounts| mounts.0).unwrap_or_default();
        let own = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
        let places = places(&mounts, &own, &|path| fs::read_to_string(path).ok());
        Self(places.into_iter().filter(can_be_used).collect())
    }

    /// What can't be limited here, for people; none if everything can.
    pub fn missing(&self) -> Option<String> {
        let has = |controller: &Controller| self.0.iter().any(|it| it.controller == *controller);
        let missing = Controller::ALL.into_iter().filter(|it| !has(it)).map(Controller::name);
        let missing: Vec<&str> = missing.collect();
        (!missing.is_empty()).then(|| missing.join(", "))
    }

    /// The group of that name, which is not made yet. Of one that is there, the parts stay
    /// where they are, and it gets those it lacks.
    pub fn group(&self, name: &str, known: Option<Group>) -> Group {
        let mut parts = known.filter(Group::is_there).map_or_else(Vec::new, |known| known.0);
        for place in &self.0 {
            let Place { controller, unified, directory } = place;
            if !parts.iter().any(|part| part.controller == *controller) {
                let path = directory.join(name);
                parts.push(Part { controller: *controller, unified: *unified, path });
            }
        }
        Group(parts)
    }
}

impl Group {
    /// Makes it unless it is there, with these limits.
    pub fn make(&self, limits: &Limits) -> io::Result<()> {
        for part in &self.0 {
            make(&part.path)?;
            part.limit(limits)?;
        }
        Ok(())
    }

    /// Whether nothing of it is gone, as after a reboot. One without a limit is none.
    pub fn is_there(&self) -> bool {
        !self.0.is_empty() && self.0.iter().all(|part| part.path.is_dir())
    }

    /// What is in it: a process can't leave, whatever it does to its environment.
    pub fn processes(&self) -> Vec<ProcessId> {
        let of_part = |part: &Part| fs::read_to_string(part.path.join("cgroup.procs")).ok();
        let pids: BTreeSet<i32> = self
            .0
            .iter()
            .filter_map(of_part)
            .flat_map(|text| text.lines().flat_map(str::parse).collect::<Vec<_>>())
            .collect();
        pids.into_iter().filter_map(ProcessId::from_pid).collect()
    }

    /// Puts a process into it, with all its threads. Its children are born there.
    pub fn add(&self, process: &ProcessId) -> io::Result<()> {
        let pid = process.pid.to_string();
        let add = |part: &Part| fs::write(part.path.join("cgroup.procs"), &pid);
        let added = self.0.iter().try_for_each(add);
        // One that has ended needs none.
        if process.is_alive() { added } else { Ok(()) }
    }

    /// Removes it. Its processes must have ended.
    pub fn remove(&self) -> io::Result<()> {
        for part in &self.0 {
            match fs::remove_dir(&part.path) {
                Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
                _ => {}
            }
        }
        Ok(())
    }
}

impl Part {
    fn limit(&self, limits: &Limits) -> io::Result<()> {
        let Limits { memory, cores, most_cores, pids } = *limits;
        let write = |file: &str, text: String| fs::write(self.path.join(file), text);
        // What this kernel can't do, it does not have a file for.
        let try_write = |file: &str, text: String| match write(file, text) {
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
            other => other,
        };
        let quota = most_cores * PERIOD_US;
        match (self.controller, self.unified) {
            (Controller::Memory, false) => {
                // With swap it can't be lower than without, neither before nor after.
                let _ = write("memory.memsw.limit_in_bytes", memory.to_string());
                write("memory.limit_in_bytes", memory.to_string())?;
                try_write("memory.memsw.limit_in_bytes", memory.to_string())
            }
            (Controller::Memory, true) => {
                write("memory.max", memory.to_string())?;
                try_write("memory.swap.max", "0".into())
            }
            (Controller::Cpu, false) => {
                write("cpu.shares", (cores * SHARES_EACH).min(1 << 18).to_string())?;
                try_write("cpu.cfs_period_us", PERIOD_US.to_string())?;
                try_write("cpu.cfs_quota_us", quota.to_string())
            }
            (Controller::Cpu, true) => {
                write("cpu.weight", (cores * 100).clamp(1, 10_000).to_string())?;
                write("cpu.max", format!("{quota} {PERIOD_US}"))
            }
            (Controller::Pids, _) => write("pids.max", pids.to_string()),
        }
    }
}

fn make(path: &Path) -> io::Result<()> {
    match fs::create_dir(path) {
        Err(error) if error.kind() != ErrorKind::AlreadyExists => Err(error),
        _ => Ok(()),
    }
}

/// In the second version a group has the controllers that the one above gives it.
fn can_be_used(place: &Place) -> bool {
    let given = place.directory.join("cgroup.subtree_control");
    if place.unified && fs::write(given, format!("+{}", place.controller.name())).is_err() {
        return false;
    }
    let trial = place.directory.join(format!("castellan-trial-{}", std::process::id()));
    make(&trial).is_ok() && fs::remove_dir(&trial).is_ok()
}

/// One place for each controller that is mounted. `read` reads a file, if it is there.
fn places(mounts: &[MountInfo], own: &str, read: &dyn Fn(&Path) -> Option<String>) -> Vec<Place> {
    let place = |controller: Controller| {
        let name = controller.name();
        let first = mounts
            .iter()
            .find(|mount| mount.fs_type == "cgroup" && mount.super_options.contains_key(name));
        if let Some(mount) = first {
            let directory = below(mount, own_path(own, name)?);
            return Some(Place { controller, unified: false, directory });
        }
        let second = mounts.iter().find(|mount| {
            let offered = read(&mount.mount_point.join("cgroup.controllers"));
            mount.fs_type == "cgroup2"
                && offered.is_some_and(|offered| offered.split_whitespace().any(|it| it == name))
        })?;
        let directory = delegated(second, own_path(own, "")?, read)?;
        Some(Place { controller, unified: true, directory })
    };
    Controller::ALL.into_iter().filter_map(place).collect()
}

/// The group that a line of `/proc/self/cgroup` names.
pub(crate) fn own_path<'a>(own: &'a str, controller: &str) -> Option<&'a str> {
    own.lines().find_map(|line| {
        let mut parts = line.splitn(3, ':');
        let (_, controllers, path) = (parts.next()?, parts.next()?, parts.next()?);
        controllers.split(',').any(|name| name == controller).then_some(path)
    })
}

/// The directory of a group, where a mount may show a part of the tree alone.
pub(crate) fn below(mount: &MountInfo, path: &str) -> PathBuf {
    let path = Path::new(path).strip_prefix(&mount.root).unwrap_or(Path::new(""));
    mount.mount_point.join(path)
}

/// Where the second version lets us make groups: a group with processes in it can't
/// have groups with controllers below. So it is the group above ours, if a unit gave us
/// that, or else the root; but nobody leaves a group with a limit by our help.
fn delegated(
    mount: &MountInfo,
    own: &str,
    read: &dyn Fn(&Path) -> Option<String>,
) -> Option<PathBuf> {
    let own = below(mount, own);
    if own.file_name().is_some_and(|name| name == PLANE) {
        return own.parent().map(Path::to_owned);
    }
    let above = own.ancestors().take_while(|group| *group != mount.mount_point);
    let limit = |group: &Path| read(&group.join("memory.max"))?.trim().parse::<u64>().ok();
    let is_limited = above.into_iter().any(|group| limit(group).is_some());
    (!is_limited).then(|| mount.mount_point.clone())
}

#[cfg(test)]
#[path = "groups_tests.rs"]
mod tests;
