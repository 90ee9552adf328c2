//! What this machine offers, read from the kernel. Nothing is judged here:
//! `preflight` does that, and `room` for a single create.
//!
//! What can't be read is absent, and nobody complains of it: a strange kernel
//! is no reason not to start.

use model::{Clock, SystemClock, Timestamp};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use serde::Serialize;
use std::fs;
use std::path::Path;

const OUTGOING_PORTS: &str = "/proc/sys/net/ipv4/ip_local_port_range";
const RESERVED_PORTS: &str = "/proc/sys/net/ipv4/ip_local_reserved_ports";

/// One look at the host. Sizes are in MiB.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct HostFacts {
    /// How many files a process may hold open; absent: as many as it likes.
    pub open_files: Option<u64>,
    pub max_map_count: Option<u64>,
    /// What all processes here may take together: the machine's memory, or
    /// less if we are in a container or a unit with a limit.
    pub memory_mb: Option<u64>,
    /// Free where the data directory is.
    pub disk_free_mb: Option<u64>,
    /// The first and the last port that the kernel gives to connections that begin here.
    pub outgoing_ports: Option<(u16, u16)>,
    /// Those of them that it does not give away.
    pub reserved_ports: Vec<(u16, u16)>,
    pub now: Timestamp,
    /// When the store was set up, once that is known.
    pub store_created_at: Option<Timestamp>,
}

impl HostFacts {
    pub fn read(data: &Path) -> Self {
        Self {
            open_files: getrlimit(Resource::Nofile).current,
            max_map_count: number("/proc/sys/vm/max_map_count"),
            memory_mb: memory_mb(),
            disk_free_mb: disk_free_mb(data),
            outgoing_ports: text(OUTGOING_PORTS).and_then(|text| outgoing_ports(&text)),
            reserved_ports: text(RESERVED_PORTS).map_or_else(Vec::new, |text| port_ranges(&text)),
            now: SystemClock.now(),
            store_created_at: None,
        }
    }
}

/// Lets this process hold as many files open as it may ask for. Agents and
/// brokers inherit that; most systems start programs with far less.
pub fn raise_open_files() {
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    if current != maximum {
        // A refusal leaves the limit as it is, and preflight tells of it.
        let _ = setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum });
    }
}

pub fn memory_mb() -> Option<u64> {
    let machine = total_memory_mb(&fs::read_to_string("/proc/meminfo").ok()?);
    machine.into_iter().chain(group_limit_mb()).min()
}

fn total_memory_mb(meminfo: &str) -> Option<u64> {
    let line = meminfo.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kilobytes / 1024)
}

/// The limit of our control group: brokers stay in it, so it is theirs, too.
fn group_limit_mb() -> Option<u64> {
    let groups = fs::read_to_string("/proc/self/cgroup").ok()?;
    let group = groups.lines().find_map(|line| line.strip_prefix("0::"))?;
    let limit = Path::new("/sys/fs/cgroup").join(group.trim_start_matches('/')).join("memory.max");
    Some(number(limit)? >> 20)
}

fn disk_free_mb(data: &Path) -> Option<u64> {
    file_system_mb(data).map(|(free, _)| free)
}

/// What is free where the data directory is, and how much there is in all; zero if
/// the file system does not say. The nearest directory that is there counts, as the
/// data directory may not be made yet.
pub fn file_system_mb(data: &Path) -> Option<(u64, u64)> {
    let there = data.ancestors().find(|path| path.exists())?;
    host::room(there).ok().map(|room| (room.free >> 20, room.total >> 20))
}

/// Two numbers.
fn outgoing_ports(text: &str) -> Option<(u16, u16)> {
    let (first, last) = text.trim().split_once(char::is_whitespace)?;
    Some((first.parse().ok()?, last.trim().parse().ok()?))
}

/// Such as `8080,9148-9200`.
fn port_ranges(text: &str) -> Vec<(u16, u16)> {
    let ranges = text.trim().split(',').filter_map(|range| {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        Some((first.parse().ok()?, last.parse().ok()?))
    });
    ranges.collect()
}

/// The number in a file of the kernel. `max` and other words are none.
fn number(path: impl AsRef<Path>) -> Option<u64> {
    text(path)?.trim().parse().ok()
}

fn text(path: impl AsRef<Path>) -> Option<String> {
    fs::read_to_string(path).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernels_words_are_read() {
        let meminfo = "MemTotal:       24682416 kB\nMemFree:         1992344 kB\n";
        assert_eq!(total_memory_mb(meminfo), Some(24103));
        assert_eq!(total_memory_mb("nonsense"), None);
        assert_eq!(outgoing_ports("32768\t60999\n"), Some((32_768, 60_999)));
        assert_eq!(outgoing_ports("nonsense"), None);
        assert_eq!(port_ranges("8080,9148-9200\n"), [(8080, 8080), (9148, 9200)]);
        assert_eq!(port_ranges("\n"), []);
    }

    #[test]
    fn this_machine_can_be_looked_at() {
        let facts = HostFacts::read(Path::new("/tmp/not/made/yet"));
        assert!(facts.memory_mb.is_some_and(|memory| memory > 0), "{facts:?}");
        assert!(facts.disk_free_mb.is_some(), "{facts:?}");
        assert!(facts.max_map_count.is_some(), "{facts:?}");
    }

    #[test]
    fn the_soft_limit_of_open_files_is_raised_to_the_hard_one() {
        raise_open_files();
        let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
        assert_eq!(current, maximum);
    }
}
