//! Whether instances get uids of their own, and what stands in the way.
//!
//! Started by root they do, from a range. Otherwise all agents and brokers are processes
//! of the user who started us, who can read everything that user can; that is said once
//! at the start. What can't be separated is refused, unless it ran so before: then it
//! goes on, with a remark.

use crate::config::{CloudKind, Config};
use crate::data_dir::DataDir;
use anyhow::{Result, bail};
use std::fs;
use std::ops::RangeInclusive;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

/// Of the range that systemd's list of uids leaves to nobody.
pub const DEFAULT: RangeInclusive<u32> = 1_900_000_000..=1_999_999_999;

/// The uids of this host.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Separation {
    /// For instances.
    pub uids: RangeInclusive<u32>,
    /// For the broker that is started to make a start-up cache.
    pub trainer: u32,
}

/// What was found: uids, or why there are none.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Found {
    Separate(Separation),
    /// All share a uid, with a sentence on what that means.
    Shared(String),
}

/// Asks the host.
pub fn find(config: &Config, data: &DataDir) -> Result<Option<Found>> {
    if config.cloud == CloudKind::Simulated {
        return Ok(None);
    }
    let Some(uids) = config.local.uids() else { return Ok(Some(shared("uids = [] says so"))) };
    if !host::is_root() {
        return Ok(Some(shared("it was not started by root")));
    }
    let (first, last) = (*uids.start(), *uids.end());
    match obstacle(config, &uids, data) {
        None => Ok(Some(Found::Separate(Separation { uids: first + 1..=last, trainer: first }))),
        Some(reason) if ran_without(data) => Ok(Some(shared(&reason))),
        Some(reason) => {
            bail!("{reason}, or let all instances share root's uid with uids = [] under [local]")
        }
    }
}

/// Why instances can't have uids here, and what to do about it.
fn obstacle(config: &Config, uids: &RangeInclusive<u32>, data: &DataDir) -> Option<String> {
    let closed = |(path, setting): (PathBuf, &str)| {
        closed_to_others(&path).map(|closed| unreachable(&path, &closed, setting))
    };
    user_obstacle(uids, data).or_else(|| {
        let host = (data.host(), "--data");
        [host].into_iter().chain(read_by_brokers(config)).find_map(closed)
    })
}

/// What brokers read besides must be open to them. With the setting that names it.
fn read_by_brokers(config: &Config) -> impl Iterator<Item = (PathBuf, &'static str)> {
    let Config { local, .. } = config;
    let cache = (local.cache(), "cache under [local]");
    let java = local.java.iter().map(|path| (path.clone(), "java under [local]"));
    let kafka = local.distributions.values();
    let kafka = kafka.map(|path| (path.clone(), "[local.distributions]"));
    [cache].into_iter().chain(java).chain(kafka)
}

fn shared(reason: &str) -> Found {
    Found::Shared(format!(
        "all agents and brokers share one uid, because {reason}: a customer who broke out of a \
         broker could read every other's data, the store and the master key; docs/security.md \
         tells what root's start changes"
    ))
}

fn user_obstacle(uids: &RangeInclusive<u32>, data: &DataDir) -> Option<String> {
    let missing = host::missing_capabilities();
    if !missing.is_empty() {
        let missing = missing.join(", ");
        return Some(format!("root lacks {missing} here, which uids for instances take; add them"));
    }
    let map = fs::read_to_string("/proc/self/uid_map").unwrap_or_default();
    if !is_mapped(&map, uids) {
        let (first, last) = (uids.start(), uids.end());
        return Some(format!(
            "this user namespace has no uids {first} to {last}; set uids under [local] to some \
             that /proc/self/uid_map has"
        ));
    }
    let owner = host::owner(data.path()).unwrap_or(0);
    let path = data.path().display();
    (owner != 0).then(|| {
        format!(
            "{path} belongs to uid {owner}; start Castellan as that user, or, to go on as root, \
             run as that user: castellan down --data {path}, and then: chown -R root:root {path}"
        )
    })
}

/// Whether all of the range are uids here. A file of the kernel says which are.
fn is_mapped(map: &str, uids: &RangeInclusive<u32>) -> bool {
    map.lines().any(|line| {
        let numbers: Vec<u64> = line.split_whitespace().flat_map(str::parse).collect();
        let [first, _, count] = numbers[..] else { return false };
        (first..first + count).contains(&u64::from(*uids.start()))
            && (first..first + count).contains(&u64::from(*uids.end()))
    })
}

/// The first directory above a path that others may not pass through. The path itself
/// is ours to open.
pub fn closed_to_others(path: &Path) -> Option<PathBuf> {
    let path = std::path::absolute(path).ok()?;
    let there = path.ancestors().skip(1).find(|above| above.exists())?.canonicalize().ok()?;
    let is_closed = |above: &&Path| {
        fs::metadata(above).is_ok_and(|found| found.permissions().mode() & 0o001 == 0)
    };
    there.ancestors().filter(is_closed).last().map(Path::to_owned)
}

fn unreachable(path: &Path, closed: &Path, setting: &str) -> String {
    format!(
        "{} can't be reached by the uids of instances, because {} is closed to other users; run: \
         chmod o+x {}, or choose another place with {setting}",
        path.display(),
        closed.display(),
        closed.display()
    )
}

/// Whether root ran an earlier release here, which gave no instance a uid. What another user
/// ran is theirs.
fn ran_without(data: &DataDir) -> bool {
    let uids = fs::read_dir(data.host().join("uids")).into_iter().flatten().flatten();
    let mut names = uids.map(|entry| entry.file_name().to_string_lossy().into_owned());
    let has_uids = names.any(|name| name.parse::<i64>().is_ok());
    let traces = data.traces();
    !has_uids && !traces.is_empty() && traces.iter().all(|path| host::owner(path).ok() == Some(0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::Permissions;

    /// A directory that users of other uids can't pass through.
    fn closed() -> tempfile::TempDir {
        let place = tempfile::tempdir().unwrap();
        fs::set_permissions(place.path(), Permissions::from_mode(0o700)).unwrap();
        place
    }

    #[test]
    fn a_range_must_be_there_as_a_whole() {
        let check = |map: &str, uids: RangeInclusive<u32>, expected: bool| {
            assert_eq!(is_mapped(map, &uids), expected, "{map}");
        };
        check("         0          0 4294967295\n", DEFAULT, true);
        check("0 1000 1\n1 100000 65536\n", DEFAULT, false);
        check("0 1000 1\n1 100000 65536\n", 2000..=65_536, true);
        check("0 1000 1\n1 100000 65536\n", 2000..=65_537, false);
        check("", DEFAULT, false);
    }

    #[test]
    fn a_closed_directory_above_is_named() {
        let place = closed();
        let place = place.path().canonicalize().unwrap();
        let path = place.join("a/b");
        assert_eq!(closed_to_others(&path), Some(place.clone()));
        fs::set_permissions(&place, Permissions::from_mode(0o711)).unwrap();
        assert_eq!(closed_to_others(&path), None);
        fs::create_dir_all(&path).unwrap();
        for directory in [place.join("a"), path.clone()] {
            fs::set_permissions(directory, Permissions::from_mode(0o700)).unwrap();
        }
        assert_eq!(closed_to_others(&path), Some(place.join("a")));
        let said = unreachable(&path, &place.join("a"), "--data");
        assert!(said.contains(&format!("chmod o+x {}", place.join("a").display())), "{said}");
    }

    #[test]
    fn servers_of_an_earlier_release_go_on_where_a_new_installation_is_refused() {
        if !host::testing::has_uids() {
            return;
        }
        let place = closed();
        let data = DataDir::new(&place.path().join("data")).unwrap();
        data.create().unwrap();
        let config = Config::default();
        let refused = find(&config, &data).unwrap_err().to_string();
        assert!(refused.contains("chmod o+x") && refused.contains("uids = []"), "{refused}");
        // A stopped instance has a disk and no server; one without any has a store or a key.
        for trace in ["servers/7", "disks/7", "castellan.db", "master.key"] {
            fs::create_dir_all(data.path().join(trace)).unwrap();
            assert!(matches!(find(&config, &data).unwrap(), Some(Found::Shared(_))), "{trace}");
            host::remove_tree(&data.path().join(trace)).unwrap();
            find(&config, &data).unwrap_err();
        }
        fs::create_dir_all(data.path().join("servers/7")).unwrap();
        fs::create_dir_all(data.path().join("uids")).unwrap();
        fs::write(data.path().join("uids/3"), "1900000003").unwrap();
        find(&config, &data).unwrap_err();

        fs::set_permissions(place.path(), Permissions::from_mode(0o711)).unwrap();
        let Some(Found::Separate(found)) = find(&config, &data).unwrap() else { panic!("shared") };
        assert!(!found.uids.contains(&found.trainer));
        let uids = data.path().join("uids");
        std::os::unix::fs::chown(data.path(), Some(77), None).unwrap();
        let refused = find(&config, &data).unwrap_err().to_string();
        assert!(refused.contains("belongs to uid 77"), "{refused}");
        host::remove_tree(&uids).unwrap();
        let Some(Found::Shared(said)) = find(&config, &data).unwrap() else { panic!("separate") };
        assert!(said.contains("belongs to uid 77"), "{said}");
        // What that user ran is not root's.
        std::os::unix::fs::chown(data.path().join("servers"), Some(77), None).unwrap();
        find(&config, &data).unwrap_err();
    }

    #[test]
    fn an_earlier_release_goes_on_whatever_is_in_the_way() {
        if !host::testing::has_uids() {
            return;
        }
        let (place, elsewhere) = (host::testing::tempdir(), closed());
        let data = DataDir::new(&place.path().join("data")).unwrap();
        data.create().unwrap();
        let mut no_cache = Config::default();
        no_cache.local.cache = Some(elsewhere.path().join("cache"));
        let mut no_uids = Config::default();
        no_uids.local.uids = Some(vec![4_294_967_290, u32::MAX]);
        let check = |config: &Config, expected: &str| {
            fs::write(data.master_key(), "").unwrap();
            let found = find(config, &data).unwrap();
            let Some(Found::Shared(said)) = found else { panic!("{found:?}") };
            assert!(said.contains(expected), "{said}");
            fs::remove_file(data.master_key()).unwrap();
            let refused = find(config, &data).unwrap_err().to_string();
            assert!(refused.contains(expected) && refused.contains("uids = []"), "{refused}");
        };
        check(&no_cache, "cache under [local]");
        check(&no_uids, "this user namespace has no uids");
    }

    #[test]
    fn an_operator_can_do_without() {
        let place = tempfile::tempdir().unwrap();
        let data = DataDir::new(place.path()).unwrap();
        let mut config = Config::default();
        config.local.uids = Some(vec![]);
        let Some(Found::Shared(said)) = find(&config, &data).unwrap() else { panic!("separate") };
        assert!(said.contains("master key"), "{said}");
        config.cloud = CloudKind::Simulated;
        assert_eq!(find(&config, &data).unwrap(), None);
    }
}
