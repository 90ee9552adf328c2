//! Where this host's servers and disks are, and who works on them.
//!
//! That is the data directory, unless several control planes on one PostgreSQL
//! share a host: then each has a data directory of its own and all have one host
//! directory, with one host id in it. A data directory stays with its host
//! directory; the link in it tells the commands that read no config file.

use crate::data_dir::DataDir;
use anyhow::{Context, Result, bail};
use host::DirLock;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

/// Everything that is ever put into a host directory.
pub const ENTRIES: [&str; 9] =
    ["bin", "disks", "fences", "host-id", "logs", "networks", "planes", "servers", "starts"];

impl DataDir {
    fn host_link(&self) -> PathBuf {
        self.path().join("host")
    }

    /// The host directory.
    pub fn host(&self) -> PathBuf {
        fs::read_link(self.host_link()).unwrap_or_else(|_| self.path().to_owned())
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
        host::create_private_dir(&wanted)
            .and_then(|()| symlink(&wanted, self.host_link()))
            .with_context(|| format!("the host directory {} can't be used", wanted.display()))
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

/// Removes a file or directory; absent is fine.
pub fn remove(path: &Path) -> Result<()> {
    let removed = match fs::symlink_metadata(path) {
        Ok(found) if found.is_dir() => fs::remove_dir_all(path),
        Ok(_) => fs::remove_file(path),
        Err(_) => Ok(()),
    };
    removed.with_context(|| format!("{} can't be removed", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

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
        let other = host::ProcessId::of(1).unwrap();
        other.save(&place.path().join("planes/1")).unwrap();
        let refused = data.lock_alone().unwrap_err().to_string();
        assert!(refused.contains("process 1 is another control plane"), "{refused}");
    }
}
