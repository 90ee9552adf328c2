//! A file system of a few megabytes of its own, to be filled without anybody
//! else noticing. It lives in memory, and goes when dropped.

use crate::FaultError;
use rustix::mount::{MountFlags, UnmountFlags, mount, unmount};
use std::ffi::CString;
use std::fs::{self, File};
use std::io::{self, Read as _, Seek as _, Write as _};
use std::os::unix::fs::{MetadataExt as _, lchown};
use std::path::{Path, PathBuf};

const WHAT: &str = "a small disk";
/// No hole is smaller.
const BLOCK: usize = 4096;

/// Mounted on a directory of its own. Whoever is killed before it is dropped
/// leaves it mounted.
#[derive(Debug)]
pub struct SmallDisk {
    path: PathBuf,
    is_mounted: bool,
}

impl SmallDisk {
    /// Makes the directory if it is not there. What is in one that is there is
    /// hidden meanwhile.
    pub fn mount(at: &Path, bytes: u64) -> Result<Self, FaultError> {
        fs::create_dir_all(at).map_err(FaultError::at(at))?;
        let path = at.canonicalize().map_err(FaultError::at(at))?;
        // It belongs to the user of what it hides.
        let (uid, gid) = fs::metadata(&path).map(|it| (it.uid(), it.gid())).unwrap_or_default();
        let options = format!("size={bytes},mode=0700,uid={uid},gid={gid}");
        let options = CString::new(options).expect("it has no zero");
        let flags = MountFlags::NOSUID | MountFlags::NODEV;
        mount("castellan-small-disk", &path, "tmpfs", flags, &*options).map_err(|error| {
            let advice = "mounting takes root (CAP_SYS_ADMIN)";
            FaultError::unavailable(WHAT, format!("{}: {error}; {advice}", path.display()))
        })?;
        Ok(Self { path, is_mounted: true })
    }

    /// The same, with what is in the directory now: the disk of a server that
    /// is stopped. What is written meanwhile goes with it, unless it is given back.
    pub fn instead_of(directory: &Path, bytes: u64) -> Result<Self, FaultError> {
        let aside = tempfile::tempdir().map_err(FaultError::at(directory))?;
        copy(directory, aside.path())?;
        let disk = Self::mount(directory, bytes)?;
        copy(aside.path(), disk.path())?;
        Ok(disk)
    }

    /// The disk, or none where this user may not mount, if a test may be left out for that.
    pub fn if_allowed(made: Result<Self, FaultError>) -> Option<Self> {
        match made {
            Ok(disk) => Some(disk),
            Err(FaultError::Unavailable { reason, .. }) => {
                host::testing::skip("mounts", &reason);
                None
            }
            Err(error) => panic!("{error}"),
        }
    }

    /// Ends with what is on it now in the directory that it hid. For a server
    /// that is stopped, too.
    pub fn give_back(mut self) -> Result<(), FaultError> {
        let aside = tempfile::tempdir().map_err(FaultError::at(&self.path))?;
        copy(&self.path, aside.path())?;
        self.unmount().map_err(FaultError::at(&self.path))?;
        clear(&self.path)?;
        copy(aside.path(), &self.path)
    }

    fn unmount(&mut self) -> std::io::Result<()> {
        if std::mem::take(&mut self.is_mounted) {
            // Whoever still has a file open there keeps it until it is closed.
            unmount(&self.path, UnmountFlags::DETACH)?;
        }
        Ok(())
    }

    pub fn path(&self) -> &Path {
        &self.path
    }
}

fn clear(directory: &Path) -> Result<(), FaultError> {
    for entry in fs::read_dir(directory).map_err(FaultError::at(directory))?.flatten() {
        let path = entry.path();
        let removed =
            if path.is_dir() { fs::remove_dir_all(&path) } else { fs::remove_file(&path) };
        removed.map_err(FaultError::at(&path))?;
    }
    Ok(())
}

/// Files and directories, with their modes and owners.
fn copy(from: &Path, to: &Path) -> Result<(), FaultError> {
    for entry in fs::read_dir(from).map_err(FaultError::at(from))?.flatten() {
        let (one, other) = (entry.path(), to.join(entry.file_name()));
        if one.is_dir() {
            let mode = fs::metadata(&one).map_err(FaultError::at(&one))?.permissions();
            fs::create_dir(&other).map_err(FaultError::at(&other))?;
            fs::set_permissions(&other, mode).map_err(FaultError::at(&other))?;
            copy(&one, &other)?;
        } else {
            copy_file(&one, &other).map_err(FaultError::at(&other))?;
        }
        let found = fs::symlink_metadata(&one).map_err(FaultError::at(&one))?;
        let given = lchown(&other, Some(found.uid()), Some(found.gid()));
        given.map_err(FaultError::at(&other))?;
    }
    Ok(())
}

/// With its holes: an index that Kafka has reserved and not used takes no room on a
/// small disk either.
fn copy_file(from: &Path, to: &Path) -> io::Result<()> {
    let (mut from, mut block) = (File::open(from)?, vec![0; BLOCK]);
    let mut to = File::create(to)?;
    to.set_permissions(from.metadata()?.permissions())?;
    to.set_len(from.metadata()?.len())?;
    loop {
        let length = from.read(&mut block)?;
        if length == 0 {
            return Ok(());
        }
        if block[..length].iter().all(|byte| *byte == 0) {
            to.seek_relative(i64::try_from(length).expect("a block is small"))?;
        } else {
            to.write_all(&block[..length])?;
        }
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        if let Err(error) = self.unmount() {
            tracing::warn!(path = %self.path.display(), %error, "a small disk stays mounted");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_disk_in_the_place_of_a_directory_has_its_contents_for_a_while() {
        let directory = tempfile::tempdir().unwrap();
        let inner = directory.path().join("data/topic-0");
        fs::create_dir_all(&inner).unwrap();
        fs::write(inner.join("log"), "one").unwrap();
        fs::write(inner.join("index"), "one").unwrap();
        File::create(inner.join("reserved")).unwrap().set_len(10 << 20).unwrap();
        let made = SmallDisk::instead_of(directory.path(), 1 << 20);
        let Some(disk) = SmallDisk::if_allowed(made) else { return };
        assert_eq!(fs::read_to_string(inner.join("log")).unwrap(), "one");
        assert_eq!(fs::metadata(inner.join("reserved")).unwrap().len(), 10 << 20);
        fs::write(inner.join("log"), "two").unwrap();
        assert!(fs::write(inner.join("large"), vec![1; 2 << 20]).is_err(), "it is small");
        drop(disk);
        assert_eq!(fs::read_to_string(inner.join("log")).unwrap(), "one");
        assert!(!inner.join("large").exists());

        let disk = SmallDisk::instead_of(directory.path(), 1 << 20).unwrap();
        fs::write(inner.join("log"), "two").unwrap();
        fs::create_dir(directory.path().join("data/topic-1")).unwrap();
        fs::remove_file(inner.join("index")).unwrap();
        disk.give_back().unwrap();
        assert_eq!(fs::read_to_string(inner.join("log")).unwrap(), "two");
        assert!(directory.path().join("data/topic-1").is_dir() && !inner.join("index").exists());
    }
}
