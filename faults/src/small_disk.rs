//! A file system of a few megabytes of its own, to be filled without anybody
//! else noticing. It lives in memory, and goes when dropped.

use crate::FaultError;
use rustix::mount::{MountFlags, UnmountFlags, mount, unmount};
use std::ffi::CString;
use std::fs;
use std::path::{Path, PathBuf};

const WHAT: &str = "a small disk";

/// Mounted on a directory of its own. Whoever is killed before it is dropped
/// leaves it mounted.
#[derive(Debug)]
pub struct SmallDisk {
    path: PathBuf,
}

impl SmallDisk {
    /// Makes the directory if it is not there. What is in one that is there is
    /// hidden meanwhile.
    pub fn mount(at: &Path, bytes: u64) -> Result<Self, FaultError> {
        fs::create_dir_all(at).map_err(FaultError::at(at))?;
        let path = at.canonicalize().map_err(FaultError::at(at))?;
        let options = CString::new(format!("size={bytes},mode=0700")).expect("it has no zero");
        let flags = MountFlags::NOSUID | MountFlags::NODEV;
        mount("castellan-small-disk", &path, "tmpfs", flags, &*options).map_err(|error| {
            let advice = "mounting takes root (CAP_SYS_ADMIN)";
            FaultError::unavailable(WHAT, format!("{}: {error}; {advice}", path.display()))
        })?;
        Ok(Self { path })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        // Whoever still has a file open there keeps it until it is closed.
        if let Err(error) = unmount(&self.path, UnmountFlags::DETACH) {
            tracing::warn!(path = %self.path.display(), %error, "a small disk stays mounted");
        }
    }
}
