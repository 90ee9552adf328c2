//! One log, followed through its rotations.
//!
//! A file is read to its end before the next: after a rename the next one is what was written
//! after it, after a copy it is the copy's rest and then the emptied file. What was read is
//! known by contents and not by names, so a process that starts again goes on where it was.

mod place;

use crate::assemble::{Assembler, Piece};
use crate::disk;
use crate::format::{Format, HEAD};
use crate::frame::Frame;
use crate::mark::{self, BEFORE, Finished, Identity, Mark};
use crate::state::Progress;
use model::{LogSource, SignedDuration, Timestamp};
use std::cmp::Ordering;
use std::fs::{self, File, Metadata};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

/// So much of a log is read at a time, in bytes.
pub const PIECE: usize = 64 << 10;
/// So much is not read because of one bad byte: the system reads no less.
const SECTOR: u64 = 4096;
/// Where a piece and what stands before it are read into.
pub const BUFFER: usize = BEFORE + PIECE;
/// Files that may be gone through in a turn.
const SWITCHES: usize = 16;
/// An event to which nothing came for so long is whole.
const IDLE: SignedDuration = SignedDuration::from_secs(1);
/// The same in the midst of a line.
const IDLE_WITHIN_LINE: SignedDuration = SignedDuration::from_secs(5);

pub struct Log {
    pub source: LogSource,
    format: Format,
    server: PathBuf,
    /// Within the server's directory.
    path: PathBuf,
    assembler: Assembler,
    place: Place,
    finished: Vec<Finished>,
    /// Those of them that were saved.
    saved: Vec<Finished>,
    /// How many files were opened.
    opened: u32,
    /// What the file before the present one leaves open.
    seam: Seam,
    /// When something was read for the last time.
    grew: Timestamp,
    /// How often lines were gone before they were read.
    pub gaps: u64,
    /// Whether it has gone on to another file since it was saved.
    is_switched: bool,
}

/// Where the log is read.
enum Place {
    /// At its present end, which has yet to be found.
    AtEnd,
    /// Where an earlier process was.
    Saved(Option<Mark>),
    /// The next file is to be opened.
    Between,
    Open(Open),
}

struct Open {
    file: File,
    identity: Identity,
    offset: u64,
    /// What stands before the offset.
    before: Vec<u8>,
    /// When it was last written, as it was last looked at.
    modified: (i64, i64),
}

/// What a look at the open file shows.
#[derive(Clone, Copy)]
struct Seen {
    size: u64,
    modified: (i64, i64),
    /// Whether another file comes after it.
    is_followed: bool,
}

impl Open {
    fn mark(&self) -> Mark {
        Mark::new(self.identity, self.offset, &self.before)
    }
}

/// How a file follows the one before, if that ended in the midst of a line.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Seam {
    None,
    /// Another process may write it.
    Renamed,
    /// The same writer went on.
    Emptied,
}

enum Step {
    Rest,
    Read { has_more: bool },
    Switch,
}

impl Log {
    /// Goes on where it was saved, or begins at the end if nothing was saved. A log that
    /// was not there when it was saved begins with its first line.
    pub fn new(
        (source, format, path): (LogSource, Format, &Path),
        server: &Path,
        limit: usize,
        saved: Option<Progress>,
    ) -> Self {
        let (place, finished) = match saved {
            Some(saved) => (Place::Saved(saved.mark), saved.finished.unwrap_or_default()),
            None => (Place::AtEnd, Vec::new()),
        };
        Self {
            source,
            format,
            server: server.into(),
            path: path.into(),
            assembler: Assembler::new(source, format, limit),
            saved: finished.clone(),
            place,
            finished,
            opened: 0,
            seam: Seam::None,
            grew: Timestamp::MIN,
            gaps: 0,
            is_switched: false,
        }
    }

    pub fn path(&self) -> PathBuf {
        self.server.join(&self.path)
    }

    /// Reads a bounded piece; true if there is more.
    pub fn turn(&mut self, now: Timestamp, buffer: &mut [u8], out: &mut Frame) -> io::Result<bool> {
        for _ in 0..SWITCHES {
            match self.step(now, buffer, out) {
                Ok(Step::Switch) => {}
                Ok(Step::Read { has_more }) => return Ok(has_more),
                Ok(Step::Rest) => {
                    self.end_when_idle(now, out);
                    return Ok(false);
                }
                Err(error) => {
                    self.end_when_idle(now, out);
                    return if is_meanwhile(&error) { Ok(false) } else { Err(error) };
                }
            }
        }
        Ok(true)
    }

    /// How far it is, if there is something to save.
    pub fn progress(&mut self, has_events: bool) -> Option<Progress> {
        let is_switched = std::mem::take(&mut self.is_switched);
        // Empty progress is not saved: it would mean that the log was not there.
        if matches!(self.place, Place::AtEnd) || !has_events && !is_switched {
            return None;
        }
        let mark = self.mark();
        // An event that began in an earlier file is read again from there, so what was
        // finished since is not.
        let is_before =
            |known: &&Finished| mark.is_none_or(|mark| known.mark.file.opened < mark.file.opened);
        let finished: Vec<Finished> = self.finished.iter().filter(is_before).copied().collect();
        let is_changed = finished != self.saved;
        if is_changed {
            self.saved.clone_from(&finished);
        }
        Some(Progress { mark, finished: is_changed.then_some(finished) })
    }

    fn mark(&self) -> Option<Mark> {
        self.assembler.began().or(match &self.place {
            Place::Open(open) => Some(open.mark()),
            Place::Saved(mark) => *mark,
            Place::AtEnd | Place::Between => None,
        })
    }

    fn step(&mut self, now: Timestamp, buffer: &mut [u8], out: &mut Frame) -> io::Result<Step> {
        match self.place {
            Place::AtEnd => self.go_to_end()?,
            Place::Saved(mark) => self.go_to(mark, now, out)?,
            Place::Between | Place::Open(_) => {}
        }
        // Before the size of an open file: once there is a new one, no process writes to the old.
        let present = self.present()?;
        let Place::Open(open) = &self.place else {
            return if present.is_some() { self.switch(now, out) } else { Ok(Step::Rest) };
        };
        let same = present.as_ref().filter(|found| open.identity.is_of(found));
        let found = same.map_or_else(|| open.file.metadata(), |found| Ok(found.clone()))?;
        let is_followed = same.is_none() && present.is_some();
        let seen = Seen { size: found.len(), modified: mark::modified(&found), is_followed };
        let is_written = same.is_some() && seen.modified != open.modified;
        if is_written && open.offset == 0 {
            // Nothing of it is known by which a copy of it is found.
            self.place = Place::Saved(Some(open.mark()));
            return Ok(Step::Switch);
        }
        match seen.size.cmp(&open.offset) {
            Ordering::Greater => self.read(seen, now, buffer, out),
            // It may have been emptied, and be as long again by chance.
            Ordering::Equal if is_written => self.read(seen, now, buffer, out),
            Ordering::Less if same.is_some() => self.go_to_copy(now, out),
            _ if is_followed => self.switch(now, out),
            _ => Ok(Step::Rest),
        }
    }

    /// The file of the log's own name.
    fn present(&self) -> io::Result<Option<Metadata>> {
        match fs::symlink_metadata(self.path()) {
            Ok(found) => Ok(Some(found).filter(Metadata::is_file)),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// A piece of the open file.
    fn read(
        &mut self,
        seen: Seen,
        now: Timestamp,
        buffer: &mut [u8],
        out: &mut Frame,
    ) -> io::Result<Step> {
        let Place::Open(open) = &mut self.place else { return Ok(Step::Rest) };
        let from = open.before.len();
        let start = open.offset - from as u64;
        let length = match disk::read(&open.file, &mut buffer[..from + PIECE], start, from) {
            Err(error) if disk::is_bad_sector(&error) => {
                return Ok(self.pass_bad_sector(seen, now, out));
            }
            read => read?,
        };
        let bytes = &buffer[..length];
        if !bytes.starts_with(&open.before) {
            // It was emptied, and is as long again.
            return self.go_to_copy(now, out);
        }
        open.modified = seen.modified;
        if length == from {
            return Ok(Step::Rest);
        }
        open.identity.look(&open.file, start + length as u64)?;
        let piece = Piece { file: open.identity, bytes, from, offset: start };
        if !cross(&mut self.assembler, self.format, self.seam, &piece, now, out) {
            return Ok(Step::Rest);
        }
        self.seam = Seam::None;
        self.assembler.feed(&piece, now, out);
        open.offset = start + length as u64;
        open.before.clear();
        open.before.extend_from_slice(&bytes[length.saturating_sub(BEFORE)..]);
        self.grew = now;
        Ok(Step::Read { has_more: seen.is_followed || open.offset < seen.size })
    }

    /// Goes on behind what the disk can't read.
    fn pass_bad_sector(&mut self, seen: Seen, now: Timestamp, out: &mut Frame) -> Step {
        let Place::Open(open) = &mut self.place else { return Step::Rest };
        // Else the sector before it was one as well.
        let is_first = open.offset == 0 || !open.before.is_empty();
        open.offset = (open.offset + 1).next_multiple_of(SECTOR).min(seen.size);
        open.before.clear();
        let has_more = seen.is_followed || open.offset < seen.size;
        self.is_switched = true;
        if is_first {
            self.note_gap(now, out);
        }
        Step::Read { has_more }
    }

    fn end_when_idle(&mut self, now: Timestamp, out: &mut Frame) {
        let is_within_line = self.assembler.is_within_line();
        if self.assembler.began().is_none() && !is_within_line {
            return;
        }
        // A clock that was set back.
        self.grew = self.grew.min(now);
        let patience = if is_within_line { IDLE_WITHIN_LINE } else { IDLE };
        if now.duration_since(self.grew) >= patience {
            self.assembler.flush(now, out);
        }
    }
}

/// Goes on in a file after another that may have ended in the midst of a line; false if the
/// file has too little yet to tell whether that line goes on in it.
fn cross(
    assembler: &mut Assembler,
    format: Format,
    seam: Seam,
    piece: &Piece<'_>,
    now: Timestamp,
    out: &mut Frame,
) -> bool {
    if seam == Seam::None || !assembler.is_within_line() {
        return true;
    }
    let head = piece.new_bytes();
    let line = head.split(|byte| *byte == b'\n').next().unwrap_or(head);
    let ends = match (format, seam) {
        // It is not known where a line of it begins.
        (Format::Printed, Seam::Emptied) => false,
        (Format::Printed, _) => true,
        _ if line.len() == head.len() && head.len() < HEAD => return false,
        _ => assembler.begins(line),
    };
    if ends {
        assembler.end_line(now, out);
    }
    true
}

/// Whether files were rotated while they were looked at. The next turn looks again.
fn is_meanwhile(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::NotFound | ErrorKind::UnexpectedEof)
}

#[cfg(test)]
mod tests;
