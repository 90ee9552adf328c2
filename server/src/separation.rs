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
    check_user(&uids, data)?;
    if let Some(closed) = closed_to_others(&data.host()) {
        let reason = unreachable(&data.host(), &closed, "--data");
        if !ran_without(&data.host()) {
            bail!("{reason}, or let all instances share root's uid with uids = [] under [local]");
        }
        return Ok(Some(shared(&reason)));
    }
    let (first, last) = (*uids.start(), *uids.end());
    Ok(Some(Found::Separate(Separation { uids: first + 1..=last, trainer: first })))
}

/// What brokers read besides must be open to them.
pub fn check_paths(config: &Config) -> Result<()> {
    let Config { local, .. } = config;
    let cache = (local.cache(), "cache under [local]");
    let java = local.java.iter().map(|path| (path.clone(), "java under [local]"));
    let kafka = local.distributions.values();
    let kafka = kafka.map(|path| (path.clone(), "[local.distributions]"));
    for (path, setting) in [cache].into_iter().chain(java).chain(kafka) {
        if let Some(closed) = closed_to_others(&path) {
            bail!("{}", unreachable(&path, &closed, setting));
        }
    }
    Ok(())
}

fn shared(reason: &str) -> Found {
    Found::Shared(format!(
        "all agents and brokers share one uid, because {reason}: a customer who broke out of a \
         broker could read every other's data, the store and the master key; docs/security.md \
         tells what root's start changes"
    ))
}

fn check_user(uids: &RangeInclusive<u32>, data: &DataDir) -> Result<()> {
    let advice = "or let all instances share root's uid with uids = [] under [local]";
    let missing = host::missing_capabilities();
    if !missing.is_empty() {
        bail!(
            "root lacks {} here, which uids for instances take; add them, {advice}",
            missing.join(", ")
        );
    }
    let map = fs::read_to_string("/proc/self/uid_map").unwrap_or_default();
    if !is_mapped(&map, uids) {
        let (first, last) = (uids.start(), uids.end());
        bail!(
            "this user namespace has no uids {first} to {last}; set uids under [local] to some \
             that /proc/self/uid_map has, {advice}"
        );
    }
    let owner = host::owner(data.path()).unwrap_or(0);
    if owner != 0 {
        let path = data.path().display();
        bail!(
            "{path} belongs to uid {owner}; start Castellan as that user, or, to go on as root, \
             run as that user: castellan down --data {path}, and then: chown -R root:root {path}"
        );
    }
    Ok(())
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

/// Whether servers are here that an earlier release made, none of which has a uid.
fn ran_without(host: &Path) -> bool {
    let has_any = |room: &str| {
        let entries = fs::read_dir(host.join(room)).into_iter().flatten().flatten();
        entries.into_iter().any(|entry| entry.file_name().to_string_lossy().parse::<i64>().is_ok())
    };
    has_any("servers") && !has_any("uids")
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
        fs::create_dir_all(data.path().join("servers/7")).unwrap();
        assert!(matches!(find(&config, &data).unwrap(), Some(Found::Shared(_))));
        fs::create_dir_all(data.path().join("uids")).unwrap();
        fs::write(data.path().join("uids/3"), "1900000003").unwrap();
        find(&config, &data).unwrap_err();

        fs::set_permissions(place.path(), Permissions::from_mode(0o711)).unwrap();
        let Some(Found::Separate(found)) = find(&config, &data).unwrap() else { panic!("shared") };
        assert!(!found.uids.contains(&found.trainer));
        std::os::unix::fs::chown(data.path(), Some(77), None).unwrap();
        let refused = find(&config, &data).unwrap_err().to_string();
        assert!(refused.contains("belongs to uid 77"), "{refused}");
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
