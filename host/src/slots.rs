//! A few places for which groups take turns; all of a group share its place.
//!
//! They are locks on files, so they hold across processes, and end with the process
//! that holds them. Nothing here waits: who finds no place asks again later. Users of
//! different uids can share them; one who keeps a place keeps others waiting, and
//! can do nothing else to them.

use std::fs::{self, File, Permissions, TryLockError};
use std::io::{self, Read, Seek, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

const GATE: &str = "gate";
/// A longer name of a group is no name.
const NAME: u64 = 256;

#[derive(Clone, Debug)]
pub struct Slots {
    directory: PathBuf,
    count: usize,
}

/// A share of a group's place, until dropped or the process ends in any way.
#[derive(Debug)]
pub struct Slot {
    _file: LockFile,
}

/// A file that may be locked, until dropped.
#[derive(Debug)]
struct LockFile(File);

impl Drop for LockFile {
    /// Closing the file is not enough: a process that is just being started has
    /// it open as well, until its program runs.
    fn drop(&mut self) {
        let _ = self.0.unlock();
    }
}

impl Slots {
    /// The directory is made when it is first needed.
    pub fn new(directory: PathBuf, count: usize) -> Self {
        Self { directory, count }
    }

    /// Makes the files, for users of every uid. The directory stays ours, so that nobody
    /// can put other files in their place.
    pub fn open_to_all(&self) -> io::Result<()> {
        crate::create_private_dir(&self.directory)?;
        for name in (0..self.count).map(|number| number.to_string()).chain([GATE.into()]) {
            self.open(&name)?.0.set_permissions(Permissions::from_mode(0o666))?;
        }
        fs::set_permissions(&self.directory, Permissions::from_mode(0o711))
    }

    /// The place that the group has, or a free one.
    pub fn try_take(&self, group: &str) -> io::Result<Option<Slot>> {
        crate::create_private_dir(&self.directory)?;
        // One at a time looks and chooses, or two could take two for a group.
        let gate = self.open(GATE)?;
        if !locked(gate.0.try_lock())? {
            return Ok(None);
        }
        let mut free = None;
        for number in 0..self.count {
            let mut file = self.open(&number.to_string())?;
            if locked(file.0.try_lock())? {
                free.get_or_insert(file);
            } else if text(&mut file.0)? == group && locked(file.0.try_lock_shared())? {
                return Ok(Some(Slot { _file: file }));
            }
        }
        free.map(|file| give(file, group)).transpose()
    }

    fn open(&self, name: &str) -> io::Result<LockFile> {
        let mut options = File::options();
        options.read(true).write(true).create(true).truncate(false);
        options.open(self.directory.join(name)).map(LockFile)
    }
}

fn give(mut file: LockFile, group: &str) -> io::Result<Slot> {
    file.0.set_len(0)?;
    file.0.rewind()?;
    file.0.write_all(group.as_bytes())?;
    // From alone to shared: the rest of the group may come in.
    file.0.lock_shared()?;
    Ok(Slot { _file: file })
}

fn text(file: &mut File) -> io::Result<String> {
    let mut text = Vec::new();
    file.take(NAME).read_to_end(&mut text)?;
    Ok(String::from_utf8_lossy(&text).into_owned())
}

fn locked(tried: Result<(), TryLockError>) -> io::Result<bool> {
    match tried {
        Ok(()) => Ok(true),
        Err(TryLockError::WouldBlock) => Ok(false),
        Err(TryLockError::Error(error)) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_group_shares_its_place_and_the_others_wait() {
        let directory = tempfile::tempdir().unwrap();
        let slots = Slots::new(directory.path().join("starts"), 2);
        let take = |group: &str| slots.try_take(group).unwrap();
        let first = take("a").expect("nobody is there");
        let second = take("a").expect("it is of the group");
        let other = take("b").expect("there is another place");
        assert!(take("c").is_none());
        drop(first);
        assert!(take("c").is_none(), "one of the group is still there");
        drop(second);
        let third = take("c").expect("the whole group has left");
        assert!(take("a").is_none());
        drop((third, other));
        assert!(take("long name").is_some() && take("x").is_some());
    }

    #[test]
    fn a_place_is_free_though_a_process_that_is_just_started_has_its_file_open() {
        let directory = tempfile::tempdir().unwrap();
        let slots = Slots::new(directory.path().join("starts"), 1);
        let slot = slots.try_take("a").unwrap().expect("all places are free");
        let Slot { _file: LockFile(file) } = &slot;
        let inherited = file.try_clone().unwrap();
        drop(slot);
        assert!(slots.try_take("b").unwrap().is_some());
        drop(inherited);
    }
}
