//! A few places for which groups take turns; all of a group share its place.
//!
//! They are locks on files, so they hold across processes, and end with whoever
//! holds them. Nothing here waits: who finds no place asks again later.

use std::fs::{File, TryLockError};
use std::io::{self, Read, Seek, Write};
use std::path::PathBuf;

#[derive(Clone, Debug)]
pub struct Slots {
    directory: PathBuf,
    count: usize,
}

/// A share of a group's place, until dropped or the process ends in any way.
#[derive(Debug)]
pub struct Slot {
    _file: File,
}

impl Slots {
    /// The directory is made when it is first needed.
    pub fn new(directory: PathBuf, count: usize) -> Self {
        Self { directory, count }
    }

    /// The place that the group has, or a free one.
    pub fn try_take(&self, group: &str) -> io::Result<Option<Slot>> {
        crate::create_private_dir(&self.directory)?;
        // One at a time looks and chooses, or two could take two for a group.
        let gate = self.open("gate")?;
        if !locked(gate.try_lock())? {
            return Ok(None);
        }
        let mut free = None;
        for number in 0..self.count {
            let mut file = self.open(&number.to_string())?;
            if locked(file.try_lock())? {
                free.get_or_insert(file);
            } else if text(&mut file)? == group && locked(file.try_lock_shared())? {
                return Ok(Some(Slot { _file: file }));
            }
        }
        free.map(|file| give(file, group)).transpose()
    }

    fn open(&self, name: &str) -> io::Result<File> {
        let path = self.directory.join(name);
        File::options().read(true).write(true).create(true).truncate(false).open(path)
    }
}

fn give(mut file: File, group: &str) -> io::Result<Slot> {
    file.set_len(0)?;
    file.rewind()?;
    file.write_all(group.as_bytes())?;
    // From alone to shared: the rest of the group may come in.
    file.lock_shared()?;
    Ok(Slot { _file: file })
}

fn text(file: &mut File) -> io::Result<String> {
    let mut text = String::new();
    file.read_to_string(&mut text)?;
    Ok(text)
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
}
