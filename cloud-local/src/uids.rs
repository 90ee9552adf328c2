//! Which uid an instance has on this host: its agents, its brokers and their files.
//!
//! A uid is on record before anything has it, belongs to one instance, and is given
//! again only after all others of the range were, and never while something of its
//! instance is here.

use crate::LocalError;
use crate::layout::{Layout, remove};
use host::DirLock;
use model::InstanceId;
use sha2::{Digest as _, Sha256};
use std::fs;
use std::io::{self, ErrorKind};
use std::ops::RangeInclusive;
use std::path::Path;

/// The uid that was chosen last.
const LAST: &str = "last";
/// The uid that processes have which wait for the next instance.
const RESERVED: &str = "reserved";

/// The uids that instances get.
#[derive(Clone, Debug)]
pub(crate) struct Uids {
    layout: Layout,
    range: RangeInclusive<u32>,
}

impl Uids {
    pub(crate) fn new(layout: &Layout, range: RangeInclusive<u32>) -> Self {
        Self { layout: layout.clone(), range }
    }

    /// The instance's uid, chosen now if it has none. Blocks for a moment.
    pub(crate) fn ensure(&self, instance: InstanceId) -> Result<u32, LocalError> {
        if let Some(known) = known(&self.layout, instance)? {
            return Ok(known);
        }
        let directory = self.layout.uids();
        let locked = DirLock::take(&directory).map_err(io::Error::other);
        let _lock = locked.map_err(LocalError::at(&directory))?;
        if let Some(known) = known(&self.layout, instance)? {
            return Ok(known);
        }
        let uid = match self.reserved()? {
            Some(reserved) => reserved,
            None => self.free()?,
        };
        // If we die between these two writes, no instance has the uid, and it is free again.
        remove(&directory.join(RESERVED))?;
        self.write(uid, &self.layout.uid(instance))?;
        Ok(uid)
    }

    /// What is reserved is for the processes that had it; when they have ended it is not
    /// reserved any more.
    pub(crate) fn drop_reservation(&self) -> Result<(), LocalError> {
        remove(&self.layout.uids().join(RESERVED))
    }

    /// The uid that the next instance gets, chosen now if none is reserved. Blocks for a
    /// moment.
    pub(crate) fn reserve(&self) -> Result<u32, LocalError> {
        let directory = self.layout.uids();
        let locked = DirLock::take(&directory).map_err(io::Error::other);
        let _lock = locked.map_err(LocalError::at(&directory))?;
        if let Some(reserved) = self.reserved()? {
            return Ok(reserved);
        }
        let uid = self.free()?;
        self.write(uid, &directory.join(RESERVED))?;
        Ok(uid)
    }

    pub(crate) fn is_reserved(&self, uid: u32) -> bool {
        self.reserved().is_ok_and(|reserved| reserved == Some(uid))
    }

    /// One that an instance got, right before we died, is not reserved any more.
    fn reserved(&self) -> Result<Option<u32>, LocalError> {
        let reserved = read(&self.layout.uids().join(RESERVED))?;
        let taken = self.taken()?;
        Ok(reserved.filter(|uid| self.range.contains(uid) && !taken.contains(uid)))
    }

    fn write(&self, uid: u32, path: &Path) -> Result<(), LocalError> {
        let number = uid.to_string();
        for path in [&self.layout.uids().join(LAST), path] {
            host::write_private(path, number.as_bytes()).map_err(LocalError::at(path))?;
        }
        Ok(())
    }

    fn taken(&self) -> Result<Vec<u32>, LocalError> {
        let mut taken = Vec::new();
        for (instance, _) in self.layout.recorded_uids()? {
            taken.extend(known(&self.layout, instance)?);
        }
        Ok(taken)
    }

    /// The next one that neither an instance of ours nor any process has.
    fn free(&self) -> Result<u32, LocalError> {
        let taken = self.taken()?;
        let (first, last) = (*self.range.start(), *self.range.end());
        let before = read(&self.layout.uids().join(LAST))?.filter(|it| self.range.contains(it));
        let next = before.map_or_else(|| self.offset(), |before| before.saturating_add(1));
        let candidates = (next..=last).chain(first..next);
        let is_free = |uid: &u32| !taken.contains(uid) && !host::has_processes(*uid);
        let found = candidates.into_iter().find(is_free);
        found.ok_or(LocalError::NoUid { first, last })
    }

    /// Each installation starts elsewhere, so that two on one host rarely meet. Where
    /// they do, the processes of the other are seen.
    fn offset(&self) -> u32 {
        let digest = Sha256::digest(self.layout.root().as_os_str().as_encoded_bytes());
        let number = u32::from_be_bytes([digest[0], digest[1], digest[2], digest[3]]);
        let (first, last) = (*self.range.start(), *self.range.end());
        let room = last.saturating_sub(first).saturating_sub(1000).max(1);
        first + number % room
    }
}

/// The uid that an instance was given.
pub(crate) fn known(layout: &Layout, instance: InstanceId) -> Result<Option<u32>, LocalError> {
    read(&layout.uid(instance))
}

/// After the last of an instance is gone.
pub(crate) fn forget(layout: &Layout, instance: InstanceId) -> Result<(), LocalError> {
    remove(&layout.uid(instance))
}

fn read(path: &Path) -> Result<Option<u32>, LocalError> {
    let text = match fs::read_to_string(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        other => other.map_err(LocalError::at(path))?,
    };
    let broken = |error| LocalError::at(path)(io::Error::new(ErrorKind::InvalidData, error));
    text.trim().parse().map(Some).map_err(broken)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layout(place: &Path) -> Layout {
        Layout::make(&place.join("data")).unwrap()
    }

    #[test]
    fn a_uid_stays_with_its_instance_and_is_not_given_again_soon() {
        let place = tempfile::tempdir().unwrap();
        let layout = layout(place.path());
        let uids = Uids::new(&layout, 1_950_000_000..=1_950_000_004);
        let of = |instance: i64| uids.ensure(InstanceId(instance)).unwrap();
        let given: Vec<u32> = (1..=4).map(of).collect();
        let mut apart = given.clone();
        apart.sort_unstable();
        apart.dedup();
        assert_eq!(apart.len(), 4, "{given:?}");
        assert_eq!(Uids::new(&layout, 1..=2).ensure(InstanceId(2)).unwrap(), given[1]);
        forget(&layout, InstanceId(2)).unwrap();
        let fifth = of(5);
        assert!(!given.contains(&fifth), "{fifth} was given just now: {given:?}");
        assert_eq!(of(6), given[1], "all others are taken");
        let full = uids.ensure(InstanceId(7)).unwrap_err().to_string();
        assert!(full.contains("1950000000 to 1950000004"), "{full}");
    }

    #[test]
    fn a_uid_that_a_process_has_is_passed_over() {
        let place = tempfile::tempdir().unwrap();
        let own = host::ProcessId::own().uid().unwrap();
        let uids = Uids::new(&layout(place.path()), own..=own + 1);
        assert_eq!(uids.ensure(InstanceId(1)).unwrap(), own + 1);
    }

    #[test]
    fn what_is_reserved_is_the_next_instances_and_no_others() {
        let place = tempfile::tempdir().unwrap();
        let layout = layout(place.path());
        let uids = Uids::new(&layout, 1_950_000_000..=1_950_000_009);
        let reserved = uids.reserve().unwrap();
        assert_eq!(uids.reserve().unwrap(), reserved);
        assert!(uids.is_reserved(reserved));
        assert_eq!(uids.ensure(InstanceId(1)).unwrap(), reserved);
        assert!(!uids.is_reserved(reserved));
        assert_ne!(uids.ensure(InstanceId(2)).unwrap(), reserved);

        // A record that is left over gives nothing to a second one.
        let next = uids.reserve().unwrap();
        let record = layout.uids().join(RESERVED);
        assert_eq!(uids.ensure(InstanceId(3)).unwrap(), next);
        fs::write(&record, next.to_string()).unwrap();
        assert!(!uids.is_reserved(next));
        assert_ne!(uids.ensure(InstanceId(4)).unwrap(), next);

        let last = uids.reserve().unwrap();
        uids.drop_reservation().unwrap();
        assert!(!uids.is_reserved(last));
        assert_ne!(uids.ensure(InstanceId(5)).unwrap(), last);
    }

    #[test]
    fn a_broken_record_is_no_free_uid() {
        let place = tempfile::tempdir().unwrap();
        let layout = layout(place.path());
        fs::write(layout.uid(InstanceId(3)), "").unwrap();
        let uids = Uids::new(&layout, 1_950_000_000..=1_950_000_004);
        uids.ensure(InstanceId(3)).unwrap_err();
        uids.ensure(InstanceId(4)).unwrap_err();
    }
}
