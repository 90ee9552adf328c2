//! The events that some destination has not taken yet, on disk.
//!
//! Frames are appended to a segment until it is full, then to the next. Every event has a
//! number, and each destination the number of the next one that it takes. A segment goes when
//! every destination is past it, or, oldest first, when there is no room for more: what a
//! destination never got of it is counted.
//!
//! How far logs and destinations are is written in the same frames, and all of it at the
//! beginning of each segment. So the last segment alone has the state, and a torn end of it
//! takes events and state back together.

mod reading;
mod segment;

pub use reading::{Batch, Position};

use crate::files::Limits;
use crate::frame::Frame;
use crate::state::{Cursor, Progress, State};
use model::LogSource;
use reading::FoundFrame;
use segment::Segment;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};

pub struct Spool {
    directory: PathBuf,
    limits: Limits,
    /// Oldest first. The last one is appended to.
    segments: VecDeque<Segment>,
    last: Option<File>,
    /// Number of the next segment.
    next: u64,
    /// Number of the next event.
    end: u64,
    logs: BTreeMap<LogSource, Progress>,
    readers: BTreeMap<i64, Reader>,
    /// Cursors that are not on disk as they are. None: the destination was removed.
    unsaved: BTreeMap<i64, Option<Cursor>>,
    /// Whether the last segment can't be read, so that nothing may follow in it.
    is_broken: bool,
    /// For a frame that is read.
    body: Vec<u8>,
}

/// A destination.
#[derive(Clone, Copy, Default)]
struct Reader {
    cursor: Cursor,
    /// The end of what it was given: it may have that without having acknowledged it.
    given: u64,
    /// A frame at or before its cursor, so that it is not searched for again.
    found: Option<FoundFrame>,
}

impl Spool {
    /// With what an earlier process left there.
    pub fn open(directory: &Path, limits: Limits) -> io::Result<Self> {
        host::create_private_dir(directory)?;
        let found = segment::recover_all(directory)?;
        let mut spool = Self {
            directory: directory.into(),
            limits,
            segments: found.segments,
            last: found.last,
            next: found.next,
            end: found.end,
            logs: found.state.logs,
            readers: BTreeMap::new(),
            unsaved: BTreeMap::new(),
            is_broken: false,
            body: Vec::new(),
        };
        for (id, cursor) in found.state.cursors {
            // A machine that lost its power may have lost the last events.
            let mut cursor = cursor.unwrap_or_default();
            cursor.at = cursor.at.min(spool.end);
            spool.readers.insert(id, Reader { cursor, ..<_>::default() });
        }
        spool.remove_taken();
        Ok(spool)
    }

    pub fn directory(&self) -> &Path {
        &self.directory
    }

    pub fn has_readers(&self) -> bool {
        !self.readers.is_empty()
    }

    /// How far a log was read. None if nothing is known of it.
    pub fn progress(&self, source: LogSource) -> Option<Progress> {
        self.logs.get(&source).cloned()
    }

    /// Where logs begin to be read for the first readers. It is saved with them, in the frame
    /// that begins the first segment.
    pub fn set_progress(&mut self, logs: BTreeMap<LogSource, Progress>) {
        self.logs = logs;
    }

    /// Readers that are new begin at the end.
    pub fn set_readers(&mut self, ids: &BTreeSet<i64>) {
        let gone: Vec<i64> = self.readers.keys().copied().filter(|id| !ids.contains(id)).collect();
        for id in gone {
            self.readers.remove(&id);
            self.unsaved.insert(id, None);
        }
        for id in ids {
            let cursor = Cursor { at: self.end, dropped: 0 };
            self.readers.entry(*id).or_insert_with(|| {
                self.unsaved.insert(*id, Some(cursor));
                Reader { cursor, ..<_>::default() }
            });
        }
    }

    /// Removes everything, once the last reader is removed.
    pub fn clear(&mut self) {
        if !self.segments.is_empty() {
            // A crash in between must not leave a state behind that goes on in the midst.
            let _ = self.write_cursors();
        }
        while self.remove_oldest() {}
        (self.last, self.is_broken) = (None, false);
        self.logs.clear();
        self.unsaved.clear();
    }

    /// Appends the events of a frame with how far their log was read. After an error the same
    /// is to be tried again.
    pub fn append(
        &mut self,
        frame: &mut Frame,
        logs: &BTreeMap<LogSource, Progress>,
    ) -> io::Result<()> {
        let change = State { logs: logs.clone(), cursors: self.unsaved.clone() };
        let count = frame.count();
        self.write(frame.bytes(self.end, &change))?;
        self.end += u64::from(count);
        self.unsaved.clear();
        for (source, now) in logs {
            self.logs.entry(*source).or_default().apply(now.clone());
        }
        Ok(())
    }

    /// Writes what is known of readers and not on disk yet, and removes what all of them have.
    pub fn save(&mut self) -> io::Result<()> {
        let has_news = !self.unsaved.is_empty() && !self.readers.is_empty();
        let saved = if has_news { self.write_cursors() } else { Ok(()) };
        // Not before: after a kill, a reader that is not known to have it would have lost it.
        // Also after an error: a full disk may be full of it.
        self.remove_taken();
        saved
    }

    fn write_cursors(&mut self) -> io::Result<()> {
        if self.last.is_none() {
            return self.begin_segment();
        }
        let change = State { cursors: self.unsaved.clone(), ..<_>::default() };
        self.write(Frame::new().bytes(self.end, &change))?;
        self.unsaved.clear();
        Ok(())
    }

    /// On a full disk it fails and drops nothing: what waits is still in the logs themselves.
    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        let length = bytes.len() as u64;
        let is_full =
            |last: &Segment| last.length > last.state && last.length + length > self.limits.segment;
        if self.last.is_none() || self.is_broken || self.segments.back().is_some_and(is_full) {
            self.begin_segment()?;
        }
        self.make_room(length);
        if let (Some(file), Some(segment)) = (&self.last, self.segments.back_mut()) {
            file.write_all_at(bytes, segment.length)?;
            segment.length += length;
        }
        Ok(())
    }

    fn make_room(&mut self, length: u64) {
        let taken = |it: &Self| it.segments.iter().map(|segment| segment.length).sum::<u64>();
        while self.segments.len() > 1 && taken(self) + length > self.limits.spool {
            self.remove_oldest();
        }
    }

    /// A machine that loses its power must not keep the new segment, which says how far logs
    /// were read, without the events before it.
    fn begin_segment(&mut self) -> io::Result<()> {
        let cursors = self.readers.iter().map(|(id, reader)| (*id, Some(reader.cursor)));
        let state = State { logs: self.logs.clone(), cursors: cursors.collect() };
        let mut frame = Frame::new();
        let bytes = frame.bytes(self.end, &state);
        self.make_room(bytes.len() as u64);
        if let Some(last) = &self.last {
            last.sync_data()?;
        }
        let (file, segment) = segment::create(&self.directory, self.next, self.end, bytes)?;
        self.segments.push_back(segment);
        (self.last, self.is_broken) = (Some(file), false);
        self.next += 1;
        self.unsaved.clear();
        Ok(())
    }

    /// Removes segments that every reader is past.
    fn remove_taken(&mut self) {
        let least = self.readers.values().map(|reader| reader.cursor.at).min();
        let least = least.unwrap_or(self.end);
        let is_taken = |it: &Self| it.segments.get(1).is_some_and(|it| it.first <= least);
        if let Some(last) = self.last.as_ref().filter(|_| is_taken(self)) {
            // A machine that loses its power must know what readers have. If it can't, it
            // only counts too much as dropped.
            let _ = last.sync_data();
        }
        while is_taken(self) {
            self.remove_oldest();
        }
    }

    /// What can't be removed is removed when the spool is opened again and read past.
    fn remove_oldest(&mut self) -> bool {
        let Some(oldest) = self.segments.pop_front() else { return false };
        let _ = std::fs::remove_file(segment::path(&self.directory, oldest.number));
        true
    }
}

#[cfg(test)]
mod tests;
