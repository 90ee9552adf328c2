//! Where this host's servers and disks are, and who works on them.
//!
//! That is the data directory, unless several control planes on one PostgreSQL
//! share a host: then each has a data directory of its own and all have one host
//! directory, with one host id in it. A data directory stays with its host
//! directory; the link in it tells the commands that read no config file.

use crate::data_dir::{DataDir, make_parents};
use anyhow::{Context, Result, bail};
use host::DirLock;
use std::fs::{self, Permissions};
use std::io;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};

/// Everything that is ever put into a host directory.
pub const ENTRIES: [&str; 13] = [
    "bin", "disks", "fences", "groups", "host-id", "logs", "netns", "networks", "planes", "pool",
    "servers", "starts", "uids",
];
/// What users of other uids pass through, to their own or to what is everybody's.
const PASSAGES: [&str; 5] = ["bin", "disks", "pool", "servers", "starts"];

impl DataDir {
    fn host_link(&self) -> PathBuf {
        self.path().join("host")
    }

    /// The host directory.
    pub fn host(&self) -> PathBuf {
        fs::read_link(self.host_link()).unwrap_or_else(|_| self.path().to_owned())
    }

    /// Where the host's pool of warm JVMs is.
    pub fn pool(&self) -> PathBuf {
        self.host().join("pool")
    }

    /// Settles where the host's servers are, for the first control plane here
    /// and all that follow.
    pub fn settle_host(&self, wanted: Option<&Path>) -> Result<()> {
        let Some(wanted) = wanted else { return Ok(()) };
        let wanted = std::path::absolute(wanted)
            .with_context(|| format!("{} is no usable path", wanted.display()))?;
        let present = self.host();
        if present == wanted {
            return Ok(());
        }
        if present != self.path() || self.path().join("servers").exists() {
            bail!(
                "the servers of {} are in {}, and can't be moved to {} by changing \
                 local.directory; correct it, or choose a new data directory with --data",
                self.path().display(),
                present.display(),
                wanted.display()
            );
        }
        make_parents(&wanted)
            .and_then(|()| host::create_private_dir(&wanted))
            .and_then(|()| symlink(&wanted, self.host_link()))
            .with_context(|| format!("the host directory {} can't be used", wanted.display()))
    }

    /// Lets users of other uids pass through to what is theirs, and closes everything else.
    pub fn open_to_uids(&self) -> Result<()> {
        for directory in [self.path(), &self.host()] {
            let opened = close_entries(directory)
                .and_then(|()| fs::set_permissions(directory, Permissions::from_mode(0o711)));
            opened.with_context(|| {
                format!("the permissions of {} can't be changed", directory.display())
            })?;
        }
        Ok(())
    }

    /// Takes the data directory, and fails while any control plane works on
    /// this host's servers: what is stopped or removed, it would start again.
    pub fn lock_alone(&self) -> Result<DirLock> {
        let lock = self.lock()?;
        let host = self.host();
        if let Some(other) = cloud_local::planes(&host)?.first() {
            bail!(
                "process {} is another control plane of the servers in {}; stop it first",
                other.pid,
                host.display()
            );
        }
        Ok(lock)
    }

    /// Removes everything of a host directory that lies elsewhere.
    pub fn purge_host(&self) -> Result<()> {
        let host = self.host();
        if host == self.path() {
            return Ok(());
        }
        for entry in ENTRIES {
            remove(&host.join(entry))?;
        }
        // What is not ours stays, and so does the directory then.
        let _ = fs::remove_dir(&host);
        Ok(())
    }
}

/// A directory that others pass through shows them what they know the name of.
fn close_entries(directory: &Path) -> io::Result<()> {
    for entry in fs::read_dir(directory)? {
        let entry = entry?;
        let (found, name) = (entry.metadata()?, entry.file_name());
        let mode = found.permissions().mode() & 0o777;
        if !found.is_symlink() && mode & 0o077 != 0 && !PASSAGES.iter().any(|it| name == *it) {
            fs::set_permissions(entry.path(), Permissions::from_mode(mode & 0o700))?;
        }
    }
    Ok(())
}

/// Removes a file or directory; absent is fine.
pub fn remove(path: &Path) -> Result<()> {
    host::remove_tree(path).with_context(|| format!("{} can't be removed", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_passes_through_sees_nothing() {
        let place = tempfile::tempdir().unwrap();
        let data = DataDir::new(&place.path().join("data")).unwrap();
        data.create().unwrap();
        for file in ["metrics.db", "lock", "endpoints.json"] {
            fs::write(data.path().join(file), "x").unwrap();
            fs::set_permissions(data.path().join(file), Permissions::from_mode(0o644)).unwrap();
        }
        for directory in ["mail", "servers", "fences"] {
            fs::create_dir(data.path().join(directory)).unwrap();
            let open = Permissions::from_mode(0o711);
            fs::set_permissions(data.path().join(directory), open).unwrap();
        }
        data.open_to_uids().unwrap();
        // Another command beside the control plane leaves it so.
        data.create().unwrap();
        let mode =
            |name: &str| fs::metadata(data.path().join(name)).unwrap().permissions().mode() & 0o777;
        for (name, expected) in [
            ("", 0o711),
            ("metrics.db", 0o600),
            ("lock", 0o600),
            ("endpoints.json", 0o600),
            ("mail", 0o700),
            ("fences", 0o700),
            ("servers", 0o711),
        ] {
            assert_eq!(mode(name), expected, "{name}: {:o}", mode(name));
        }
    }

    #[test]
    fn a_data_directory_stays_with_its_host_directory() {
        let place = tempfile::tempdir().unwrap();
        let data = DataDir::new(&place.path().join("data")).unwrap();
        data.create().unwrap();
        assert_eq!(data.host(), data.path());
        data.settle_host(None).unwrap();
        data.settle_host(Some(data.path())).unwrap();

        let host = place.path().join("host");
        data.settle_host(Some(&host)).unwrap();
        for wanted in [None, Some(host.as_path())] {
            data.settle_host(wanted).unwrap();
            assert_eq!(data.host(), host, "also when the setting is taken away");
        }
        let moved = data.settle_host(Some(&place.path().join("other"))).unwrap_err();
        assert!(moved.to_string().contains("can't be moved"), "{moved}");
        data.create().unwrap();

        fs::create_dir(host.join("servers")).unwrap();
        fs::write(host.join("precious"), "").unwrap();
        data.purge_host().unwrap();
        assert!(data.purge().unwrap());
        assert!(host.join("precious").exists() && !host.join("servers").exists());
    }

    #[test]
    fn nothing_is_taken_from_under_a_control_plane() {
        let place = tempfile::tempdir().unwrap();
        let data = DataDir::new(place.path()).unwrap();
        drop(data.lock_alone().unwrap());
        fs::create_dir(place.path().join("planes")).unwrap();
        let other = host::ProcessId::from_pid(1).unwrap();
        other.save(&place.path().join("planes/1")).unwrap();
        let refused = data.lock_alone().unwrap_err().to_string();
        assert!(refused.contains("process 1 is another control plane"), "{refused}");
    }
}
