//! The files beside a log that it was rotated into: `server.log.1` and so on.
//!
//! Their numbers don't show their order: log4j 1 gives the newest the lowest, log4j 2 the
//! highest. So they go by when they were last written, and which of them were read is known
//! by their inodes and contents, since a clock may be set back.

use crate::disk;
use crate::mark::{self, Finished, Identity, Mark};
use std::ffi::OsStr;
use std::fs::{self, File, Metadata};
use std::io;
use std::path::{Path, PathBuf};

/// Of more, those that were written last.
pub const MOST: usize = 64;
/// A copy is made of long files alone. As many of its bytes are compared.
const COMPARED: usize = 4096;

pub struct Rotated {
    /// Within the server's directory.
    pub path: PathBuf,
    pub found: Metadata,
}

/// Oldest first.
pub fn list(server: &Path, log: &Path) -> io::Result<Vec<Rotated>> {
    let within = log.parent().unwrap_or(Path::new(""));
    let Some(name) = log.file_name().map(OsStr::as_encoded_bytes) else {
        return Ok(Vec::new());
    };
    let entries = match fs::read_dir(server.join(within)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries?,
    };
    let mut rotated = Vec::new();
    for entry in entries {
        let entry = entry?;
        let file_name = entry.file_name();
        if file_name.as_encoded_bytes().strip_prefix(name).is_some_and(is_number) {
            // It may go away meanwhile. A link is no file.
            let found = entry.metadata().ok().filter(Metadata::is_file);
            let path = within.join(file_name);
            rotated.extend(found.map(|found| Rotated { path, found }));
        }
    }
    rotated.sort_by_cached_key(|file| {
        let ends = mark::modified(&file.found);
        (ends, std::cmp::Reverse(file.path.clone()))
    });
    rotated.drain(..rotated.len().saturating_sub(MOST));
    Ok(rotated)
}

/// `.1`, or a date.
fn is_number(suffix: &[u8]) -> bool {
    let is_part = |byte: &u8| byte.is_ascii_digit() || b".-_".contains(byte);
    matches!(suffix, [b'.', number @ ..] if !number.is_empty() && number.iter().all(is_part))
}

impl Rotated {
    /// Fails if another file has its name by now.
    pub fn open(&self, server: &Path) -> io::Result<File> {
        let file = host::open_beneath(server, &self.path)?;
        let is_same = Identity::new(&self.found).is_of(&file.metadata()?);
        if is_same { Ok(file) } else { Err(io::ErrorKind::NotFound.into()) }
    }

    /// From where on it has to be read. None if it was read to its end.
    pub fn unread(&self, server: &Path, finished: &[Finished]) -> io::Result<Option<u64>> {
        let Some(known) = finished.iter().find(|it| it.mark.file.is_of(&self.found)) else {
            return Ok(Some(0));
        };
        if known.is_unchanged(&self.found) {
            return Ok(None);
        }
        // Its writer may have had it open a little longer. Else another file has its inode.
        if known.mark.fits(&self.open(server)?)? {
            return Ok((self.found.len() > known.mark.offset).then_some(known.mark.offset));
        }
        Ok(Some(0))
    }

    /// Whether it is being copied from the log just now, which is emptied after.
    pub fn is_copied_from(&self, server: &Path, log: &File) -> io::Result<bool> {
        let length = self.found.len();
        if length < COMPARED as u64 || log.metadata()?.len() < length {
            return Ok(false);
        }
        let (mut ours, mut logs) = (vec![0; COMPARED], vec![0; COMPARED]);
        let from = length - COMPARED as u64;
        let is_read = disk::read_exact(&self.open(server)?, &mut ours, from)?
            && disk::read_exact(log, &mut logs, from)?;
        Ok(is_read && ours == logs)
    }
}

/// Finds the finished files that have other inodes by now, also those of one another: a
/// server's files may have been brought to another disk. Two JVMs may print the same words, so
/// they are told apart by when they did.
pub fn recognize(
    rotated: &[Rotated],
    server: &Path,
    finished: &mut Vec<Finished>,
) -> io::Result<()> {
    let mut recognized: Vec<Finished> = Vec::new();
    for beside in rotated {
        if finished.iter().any(|known| known.is_unchanged(&beside.found)) {
            continue;
        }
        for known in finished.iter().filter(|known| known.is_as_long_and_old(&beside.found)) {
            let file = beside.open(server)?;
            if known.mark.fits(&file)? {
                let mark = Mark::at(&file, known.mark.offset)?;
                recognized.push(Finished::new(mark, &beside.found));
                break;
            }
        }
    }
    let is_another =
        |known: &Finished| !recognized.iter().any(|it| known.mark.file.is_same(&it.mark.file));
    finished.retain(is_another);
    finished.extend(recognized);
    Ok(())
}

/// The file beside the log in which a place is, and whether anything is left of it to read.
pub fn find(rotated: &[Rotated], server: &Path, mark: &Mark) -> io::Result<Option<(File, bool)>> {
    let is_same = |file: &&Rotated| mark.file.is_of(&file.found);
    let others = || rotated.iter().rev().filter(|file| !is_same(file));
    for file in rotated.iter().filter(is_same).chain(others()) {
        let file = file.open(server)?;
        if mark.fits(&file)? {
            return Ok(Some((file, true)));
        }
    }
    for file in others() {
        let file = file.open(server)?;
        if mark.outruns(&file)? {
            return Ok(Some((file, false)));
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_was_rotated_is_beside_a_log() {
        let check = |suffix: &str, expected| {
            assert_eq!(is_number(suffix.as_bytes()), expected, "{suffix}");
        };
        check(".1", true);
        check(".2026-11-05", true);
        check("", false);
        check(".", false);
        check(".1.gz", false);
        check(".bak", false);
        check("-1", false);
    }
}
