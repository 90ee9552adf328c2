//! Memory that one more process could take without anything being killed for it.

use procfs::process::{MountInfo, Process};
use std::fs;
use std::path::{Path, PathBuf};

/// What is left of the host's memory and of each group that this process is in, in bytes:
/// the least of them counts. Page cache is given up for a process, so it counts as left. None
/// if the host does not tell.
pub fn spare_memory() -> Option<u64> {
    let available = available(&fs::read_to_string("/proc/meminfo").ok()?)?;
    let mounts = Process::myself().and_then(|own| own.mountinfo());
    let mounts = mounts.map(|mounts| mounts.0).unwrap_or_default();
    let own = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    let groups = groups(&mounts, &own).into_iter();
    let left =
        groups.filter_map(|group| left_in(&|file| fs::read_to_string(group.join(file)).ok()));
    Some(left.fold(available, u64::min))
}

fn available(meminfo: &str) -> Option<u64> {
    let line = meminfo.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    line.split_whitespace().next()?.parse::<u64>().ok().map(|kib| kib << 10)
}

/// The directories of our group for memory and of those above it.
fn groups(mounts: &[MountInfo], own: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for mount in mounts {
        let controller = match mount.fs_type.as_str() {
            "cgroup" if mount.super_options.contains_key("memory") => "memory",
            "cgroup2" => "",
            _ => continue,
        };
        let Some(path) = crate::groups::own_path(own, controller) else { continue };
        let group = crate::groups::below(mount, path);
        let above = group.ancestors().take_while(|it| it.starts_with(&mount.mount_point));
        found.extend(above.map(Path::to_owned));
    }
    found
}

/// What a group may still take; none if it has no limit. `read` reads a file of it, if it is
/// there: the names differ between the two versions of control groups.
fn left_in(read: &dyn Fn(&str) -> Option<String>) -> Option<u64> {
    let number = |file: &str| read(file)?.trim().parse::<u64>().ok();
    let limit = number("memory.max").or_else(|| number("memory.limit_in_bytes"))?;
    let taken = number("memory.current").or_else(|| number("memory.usage_in_bytes"))?;
    let stat = read("memory.stat")?;
    let count = |name: &str| {
        let line = stat.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
        line.and_then(|number| number.trim().parse::<u64>().ok())
    };
    // The first version counts the groups below apart.
    let of = |name: &str| count(&format!("total_{name}")).or_else(|| count(name)).unwrap_or(0);
    let cached = of("active_file") + of("inactive_file");
    Some(limit.saturating_sub(taken.saturating_sub(cached)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    #[test]
    fn page_cache_is_left_and_a_group_without_a_limit_leaves_all() {
        let check = |files: &[(&str, &str)], expected: Option<u64>| {
            let files: BTreeMap<_, _> = files.iter().copied().collect();
            let left = left_in(&|file| files.get(file).map(ToString::to_string));
            assert_eq!(left, expected, "{files:?}");
        };
        let second = [
            ("memory.current", "900\n"),
            ("memory.stat", "anon 500\nactive_file 100\ninactive_file 200\n"),
        ];
        check(&[("memory.max", "1000\n"), second[0], second[1]], Some(400));
        check(&[("memory.max", "max\n"), second[0], second[1]], None);
        check(&[("memory.max", "500\n"), second[0], second[1]], Some(0));
        check(
            &[
                ("memory.limit_in_bytes", "1000\n"),
                ("memory.usage_in_bytes", "900\n"),
                ("memory.stat", "active_file 1\ntotal_active_file 100\ntotal_inactive_file 300\n"),
            ],
            Some(500),
        );
        check(&[], None);
        assert_eq!(available("MemTotal: 9 kB\nMemAvailable:    2 kB\n"), Some(2048));
        assert_eq!(available("MemTotal: 9 kB\n"), None);
    }

    #[test]
    fn this_host_has_some_left() {
        let spare = spare_memory().unwrap();
        assert!(spare > 1 << 20, "{spare}");
    }
}
