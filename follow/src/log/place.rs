//! Which file of a log is read next, and from where.

use super::{Log, Open, Place, Seam, Step};
use crate::disk;
use crate::frame::Frame;
use crate::mark::{self, Finished, Identity, Mark};
use crate::rotated::{self, Rotated};
use model::{LogSource, Timestamp};
use std::fs::File;
use std::io;
use std::os::unix::fs::{FileExt as _, MetadataExt as _};

/// So far back the beginning of a line is looked for that is being written.
const LAST_LINE: usize = 64 << 10;

impl Log {
    /// Forgets where it was, and begins with what is written from now on.
    pub fn begin_at_end(&mut self) -> io::Result<()> {
        self.place = Place::AtEnd;
        self.go_to_end()
    }

    pub(super) fn go_to_end(&mut self) -> io::Result<()> {
        let mut finished = Vec::new();
        for beside in rotated::list(&self.server, &self.path)? {
            let file = beside.open(&self.server)?;
            let mark = Mark::at(&file, beside.found.len())?;
            finished.push(Finished::new(mark, &beside.found));
        }
        self.place = match self.open_present()? {
            Some(file) => {
                let offset = last_line(&file)?;
                Place::Open(self.open_at(file, offset, false)?)
            }
            None => Place::Between,
        };
        (self.finished, self.is_switched) = (finished, true);
        Ok(())
    }

    /// Goes on where an earlier process was.
    pub(super) fn go_to(
        &mut self,
        mark: Option<Mark>,
        now: Timestamp,
        out: &mut Frame,
    ) -> io::Result<()> {
        // In this order: what is renamed in between is found among the rotated.
        let present = self.open_present()?;
        let mut rotated = rotated::list(&self.server, &self.path)?;
        rotated::recognize(&rotated, &self.server, &mut self.finished)?;
        // What was read before is before the mark.
        rotated.retain(|file| !self.finished.iter().any(|it| it.is_unchanged(&file.found)));
        // What is opened now may have another inode.
        self.is_switched = true;
        let Some(mark) = mark else {
            self.place = Place::Between;
            return Ok(());
        };
        let is_same = match &present {
            Some(file) => mark.file.is_of(&file.metadata()?),
            None => false,
        };
        // Of the marked file, if that is emptied or was a copy itself.
        let is_copy = is_same || mark.file.is_copy;
        if mark.offset == 0 {
            // Nothing tells that file from another. What was not read is read from its
            // beginning; if the file is still there, that is a copy of it.
            let unread = self.first_unread(&rotated, &self.finished, present.as_ref())?;
            self.place = match unread {
                Some((file, offset)) => Place::Open(self.open_at(file, offset, is_copy)?),
                None => Place::Between,
            };
            return Ok(());
        }
        if let Some(file) = &present
            && is_same
            && mark.fits(file)?
        {
            self.place = Place::Open(self.open_at(file.try_clone()?, mark.offset, false)?);
            return Ok(());
        }
        self.place = match rotated::find(&rotated, &self.server, &mark)? {
            Some((file, has_rest)) => {
                let offset = if has_rest { mark.offset } else { file.metadata()?.len() };
                Place::Open(self.open_at(file, offset, is_copy)?)
            }
            None => match present {
                Some(file) if !is_same && mark.fits(&file)? => {
                    Place::Open(self.open_at(file, mark.offset, false)?)
                }
                _ => {
                    self.note_gap(now, out);
                    Place::Between
                }
            },
        };
        Ok(())
    }

    /// After the log was emptied: to the rest of the copy that was made of it.
    pub(super) fn go_to_copy(&mut self, now: Timestamp, out: &mut Frame) -> io::Result<Step> {
        let Place::Open(open) = &self.place else { return Ok(Step::Rest) };
        let mark = open.mark();
        let mut rotated = rotated::list(&self.server, &self.path)?;
        rotated.retain(|file| !self.finished.iter().any(|it| it.is_unchanged(&file.found)));
        let copy = rotated::find(&rotated, &self.server, &mark)?;
        self.place = if let Some((file, has_rest)) = copy {
            let offset = if has_rest { mark.offset } else { file.metadata()?.len() };
            Place::Open(self.open_at(file, offset, true)?)
        } else {
            self.note_gap(now, out);
            Place::Between
        };
        self.is_switched = true;
        Ok(Step::Switch)
    }

    /// Opens what comes after the file that was read to its end: what was rotated and not
    /// read, oldest first, then the file of the log's own name.
    pub(super) fn switch(&mut self, now: Timestamp, out: &mut Frame) -> io::Result<Step> {
        // In this order: what is renamed in between is found among the rotated.
        let present = self.open_present()?;
        let rotated = rotated::list(&self.server, &self.path)?;
        let mut finished = self.finished.clone();
        let mut is_removed = false;
        if let Place::Open(open) = &self.place {
            let found = open.file.metadata()?;
            finished.retain(|known| !known.mark.file.is_same(&open.identity));
            finished.push(Finished::new(open.mark(), &found));
            let is_copy = open.identity.is_copy;
            self.seam = if is_copy { Seam::Emptied } else { Seam::Renamed };
            // A copy is removed when the next one is made, which has all that came after it.
            is_removed = found.nlink() == 0 && !self.may_be_copied();
        }
        finished.drain(..finished.len().saturating_sub(rotated::MOST));
        let unread = self.first_unread(&rotated, &finished, present.as_ref())?;
        // Files that were rotated after it may have been removed as well.
        let has_gap = is_removed && unread.is_some();
        let next = unread.or(present.map(|file| (file, 0)));
        (self.finished, self.is_switched) = (finished, true);
        let Some((file, offset)) = next else {
            self.place = Place::Between;
            return Ok(Step::Rest);
        };
        self.place = Place::Open(self.open_at(file, offset, false)?);
        if has_gap {
            self.note_gap(now, out);
        }
        // The next file has as much time to go on with an open line as this one had.
        self.grew = self.grew.max(now);
        Ok(Step::Switch)
    }

    fn first_unread(
        &self,
        rotated: &[Rotated],
        finished: &[Finished],
        present: Option<&File>,
    ) -> io::Result<Option<(File, u64)>> {
        for file in rotated {
            let Some(offset) = file.unread(&self.server, finished)? else { continue };
            if let Some(present) = present.filter(|_| self.may_be_copied())
                && file.is_copied_from(&self.server, present)?
            {
                continue;
            }
            return Ok(Some((file.open(&self.server)?, offset)));
        }
        Ok(None)
    }

    fn open_at(&mut self, file: File, offset: u64, is_copy: bool) -> io::Result<Open> {
        let found = file.metadata()?;
        let mut identity = Identity::new(&found);
        identity.look(&file, found.len())?;
        let before = mark::before(&file, offset)?;
        self.opened += 1;
        (identity.is_copy, identity.opened) = (is_copy, self.opened);
        // It is not, or it has the inode of one that is gone.
        self.finished.retain(|known| !known.mark.file.is_same(&identity));
        Ok(Open { file, identity, offset, before, modified: mark::modified(&found) })
    }

    /// Whether its rotated files may be copies of a file that was emptied.
    fn may_be_copied(&self) -> bool {
        matches!(self.source, LogSource::Agent | LogSource::Output)
    }

    fn open_present(&self) -> io::Result<Option<File>> {
        if self.present()?.is_none() {
            return Ok(None);
        }
        host::open_beneath(&self.server, &self.path).map(Some)
    }

    pub(super) fn note_gap(&mut self, now: Timestamp, out: &mut Frame) {
        self.gaps += 1;
        let name = self.path.file_name().unwrap_or_default().to_string_lossy();
        let words = format!(
            "lines of {name} may be missing here: they were removed or damaged before they could \
             be read"
        );
        self.assembler.note(&words, now, out);
    }
}

/// Where the line begins that is being written; the end, if the last one is whole.
fn last_line(file: &File) -> io::Result<u64> {
    let size = file.metadata()?.len();
    let length = usize::try_from(size).unwrap_or(LAST_LINE).min(LAST_LINE);
    let mut bytes = vec![0; length];
    match file.read_exact_at(&mut bytes, size - length as u64) {
        Err(error) if disk::is_bad_sector(&error) => return Ok(size),
        read => read?,
    }
    let line = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |feed| feed + 1);
    Ok(size - (length - line) as u64)
}
