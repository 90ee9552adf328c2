//! A place in a file that is found again when the file was renamed, copied or replaced.
//!
//! The file is known by its device and inode, and by what stands before the place: an inode
//! is given to another file once it is free, and a file that was emptied may be as long again.

use crate::disk;
use serde::{Deserialize, Serialize};
use std::fs::{File, Metadata};
use std::io;
use std::os::unix::fs::{FileExt as _, MetadataExt as _};

/// So many bytes before a place are compared.
pub const BEFORE: usize = 128;
/// So many at the beginning of the file.
const FIRST: usize = 256;
/// What a writer may have printed between a copy of its file and the emptying of it.
const BESIDE_A_COPY: u64 = 64 << 10;

/// Which file it is.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Identity {
    device: u64,
    inode: u64,
    /// The sum of its first bytes, once it has as many.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    first: Option<u32>,
    /// Whether it is the copy of a file that was emptied.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_copy: bool,
    /// Files of a log are counted as this process opens them; 0 is one of an earlier process.
    #[serde(skip)]
    pub opened: u32,
}

impl Identity {
    pub fn new(found: &Metadata) -> Self {
        let (device, inode) = (found.dev(), found.ino());
        Self { device, inode, first: None, is_copy: false, opened: 0 }
    }

    pub fn is_of(&self, found: &Metadata) -> bool {
        (self.device, self.inode) == (found.dev(), found.ino())
    }

    pub fn is_same(&self, other: &Self) -> bool {
        (self.device, self.inode) == (other.device, other.inode)
    }

    /// Learns how the file begins.
    pub fn look(&mut self, file: &File, size: u64) -> io::Result<()> {
        if self.first.is_none() && size >= FIRST as u64 {
            self.first = sum_of(file, 0, FIRST)?;
        }
        Ok(())
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Mark {
    #[serde(flatten)]
    pub file: Identity,
    pub offset: u64,
    /// How many bytes before it are in the sum.
    before: usize,
    sum: u32,
}

impl Mark {
    pub fn new(file: Identity, offset: u64, before: &[u8]) -> Self {
        let before = &before[before.len().saturating_sub(BEFORE)..];
        Self { file, offset, before: before.len(), sum: crc32c::crc32c(before) }
    }

    /// At the end of a file.
    pub fn at(file: &File, offset: u64) -> io::Result<Self> {
        let found = file.metadata()?;
        let mut identity = Identity::new(&found);
        identity.look(file, found.len())?;
        Ok(Self::new(identity, offset, &before(file, offset)?))
    }

    /// Whether a file has, up to this place, what the marked one had.
    pub fn fits(&self, file: &File) -> io::Result<bool> {
        let size = file.metadata()?.len();
        let Some(start) = self.offset.checked_sub(self.before as u64) else { return Ok(false) };
        Ok(size >= self.offset
            && sum_of(file, start, self.before)? == Some(self.sum)
            && self.begins_alike(file)?)
    }

    /// Whether a file is a copy of the marked one that lacks its last lines: they were
    /// printed, and read, after it was copied.
    pub fn outruns(&self, copy: &File) -> io::Result<bool> {
        let missing = self.offset.checked_sub(copy.metadata()?.len());
        let is_near = missing.is_some_and(|missing| missing <= BESIDE_A_COPY);
        Ok(is_near && self.file.first.is_some() && self.begins_alike(copy)?)
    }

    fn begins_alike(&self, file: &File) -> io::Result<bool> {
        match self.file.first {
            Some(first) => Ok(sum_of(file, 0, FIRST)? == Some(first)),
            None => Ok(true),
        }
    }
}

/// What stands before a place in a file. Nothing if that is on a bad sector.
pub fn before(file: &File, offset: u64) -> io::Result<Vec<u8>> {
    let length = usize::try_from(offset).unwrap_or(BEFORE).min(BEFORE);
    let mut bytes = vec![0; length];
    match file.read_exact_at(&mut bytes, offset - length as u64) {
        Err(error) if disk::is_bad_sector(&error) => Ok(Vec::new()),
        read => read.map(|()| bytes),
    }
}

/// None if the file is too short, or can't be read there.
fn sum_of(file: &File, offset: u64, length: usize) -> io::Result<Option<u32>> {
    let mut bytes = [0; FIRST];
    let bytes = &mut bytes[..length.min(FIRST)];
    let is_read = disk::read_exact(file, bytes, offset)?;
    Ok(is_read.then(|| crc32c::crc32c(bytes)))
}

/// A file beside the log that was read up to a place, and when it was last written.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Finished {
    #[serde(flatten)]
    pub mark: Mark,
    modified: (i64, i64),
}

impl Finished {
    pub fn new(mark: Mark, found: &Metadata) -> Self {
        Self { mark, modified: modified(found) }
    }

    pub fn is_unchanged(&self, found: &Metadata) -> bool {
        self.mark.file.is_of(found) && self.is_as_long_and_old(found)
    }

    pub fn is_as_long_and_old(&self, found: &Metadata) -> bool {
        self.mark.offset == found.len() && self.modified == modified(found)
    }
}

/// When a file was last written.
pub fn modified(found: &Metadata) -> (i64, i64) {
    (found.mtime(), found.mtime_nsec())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn a_place_is_found_in_what_the_file_was_and_in_a_copy() {
        let directory = tempfile::tempdir().unwrap();
        let path = |name: &str| directory.path().join(name);
        let open = |name: &str| File::open(path(name)).unwrap();
        let text: String =
            (0..100).map(|line| format!("line {line}")).collect::<Vec<_>>().join("\n");
        fs::write(path("log"), &text).unwrap();
        let mark = Mark::at(&open("log"), 500).unwrap();
        assert!(mark.fits(&open("log")).unwrap());
        fs::copy(path("log"), path("copy")).unwrap();
        assert!(mark.fits(&open("copy")).unwrap());

        fs::write(path("log"), &text[..499]).unwrap();
        assert!(!mark.fits(&open("log")).unwrap(), "it is shorter");
        assert!(mark.outruns(&open("log")).unwrap());
        fs::write(path("log"), text.replace("line 4", "line 5")).unwrap();
        assert!(!mark.fits(&open("log")).unwrap(), "other bytes stand before it");
        fs::write(path("log"), text.replace("line 1\n", "line 2\n")).unwrap();
        assert!(!mark.fits(&open("log")).unwrap(), "it begins otherwise");
        assert!(!mark.outruns(&open("log")).unwrap());
    }
}
