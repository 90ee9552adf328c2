//! How a destination gets its events: in order, and again until it acknowledges them.

use super::{Reader, Spool, segment};
use crate::disk;
use crate::frame::Head;
use crate::record;
use crate::state::Cursor;
use model::LogEvent;
use std::fs::File;
use std::io::{self, ErrorKind};

/// Room for a frame that is kept between readings.
const KEPT: usize = 96 << 10;
/// What an event counts beside its text, against the bytes of a batch.
const BESIDE: usize = 64;

/// Between two events.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Position(u64);

/// Events in order.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Batch {
    pub events: Vec<LogEvent>,
    first: u64,
}

impl Batch {
    /// After so many of its events: for a destination that took no more.
    pub fn after(&self, events: usize) -> Position {
        Position(self.first + events.min(self.events.len()) as u64)
    }

    /// After all of it.
    pub fn end(&self) -> Position {
        self.after(self.events.len())
    }
}

/// A frame of a segment.
#[derive(Clone, Copy)]
pub struct FoundFrame {
    number: u64,
    offset: u64,
    /// Its first event.
    first: u64,
}

/// How many events and bytes of them are still wanted.
struct Wanted {
    events: usize,
    bytes: usize,
}

impl Wanted {
    /// At least one event is taken, however large it is.
    fn is_met(&self, taken: &[LogEvent]) -> bool {
        !taken.is_empty() && (self.events == 0 || self.bytes == 0)
    }

    fn take(&mut self, event: &LogEvent) {
        self.events = self.events.saturating_sub(1);
        let bytes = event.logger.len() + event.message.len() + BESIDE;
        self.bytes = self.bytes.saturating_sub(bytes);
    }
}

/// Where reading stopped.
enum Stop {
    /// There is enough, or no more.
    Met,
    /// What follows in the segment can't be read.
    Broken,
}

impl Spool {
    /// The next events of a reader: the same until it acknowledges some.
    pub fn read(&mut self, id: i64, events: usize, bytes: usize) -> io::Result<Batch> {
        let floor = self.floor();
        let Some(reader) = self.readers.get_mut(&id) else {
            return Ok(Batch { events: Vec::new(), first: self.end });
        };
        reader.go_past(floor);
        let mut reader = *reader;
        let mut wanted = Wanted { events, bytes };
        let mut batch = Batch { events: Vec::new(), first: reader.cursor.at };
        while !wanted.is_met(&batch.events) {
            let at = batch.end().0;
            let Some(index) = self.segment_of(at) else { break };
            match self.read_segment(index, at, &mut reader, &mut wanted, &mut batch.events)? {
                Stop::Met => {}
                Stop::Broken if !batch.events.is_empty() => break,
                Stop::Broken => {
                    let next = self.segments.get(index + 1).map_or(self.end, |next| next.first);
                    self.is_broken |= index + 1 == self.segments.len();
                    reader.go_past(next);
                    batch.first = reader.cursor.at;
                }
            }
        }
        self.body.shrink_to(KEPT);
        reader.given = batch.end().0;
        self.readers.insert(id, reader);
        Ok(batch)
    }

    /// The segment with an event, which the last one has if no later one begins with it.
    fn segment_of(&self, at: u64) -> Option<usize> {
        let after = self.segments.partition_point(|segment| segment.first <= at);
        after.checked_sub(1).filter(|_| at < self.end)
    }

    fn read_segment(
        &mut self,
        index: usize,
        mut at: u64,
        reader: &mut Reader,
        wanted: &mut Wanted,
        events: &mut Vec<LogEvent>,
    ) -> io::Result<Stop> {
        let segment = self.segments[index];
        let file = match File::open(segment::path(&self.directory, segment.number)) {
            Err(error) if is_lost(&error) => return Ok(Stop::Broken),
            file => file?,
        };
        let found = reader.found.filter(|it| it.number == segment.number && it.first <= at);
        let mut offset = found.map_or(0, |frame| frame.offset);
        while offset < segment.length {
            let Some(head) = self.read_frame(&file, offset, at)? else {
                return Ok(Stop::Broken);
            };
            if at < head.end() {
                if events.is_empty() {
                    let (number, first) = (segment.number, head.first);
                    reader.found = Some(FoundFrame { number, offset, first });
                }
                let Some(taken) = take(&head, &self.body, at, wanted, events) else {
                    return Ok(Stop::Broken);
                };
                at += taken;
                if wanted.is_met(events) {
                    return Ok(Stop::Met);
                }
            }
            offset += segment::size(&head);
        }
        let end = self.segments.get(index + 1).map_or(self.end, |next| next.first);
        Ok(if at < end { Stop::Broken } else { Stop::Met })
    }

    /// The frame at an offset, with its body if an event from this one on is in it. None if it
    /// is not what was written.
    fn read_frame(&mut self, file: &File, offset: u64, at: u64) -> io::Result<Option<Head>> {
        let Some(head) = segment::read_head(file, offset)? else { return Ok(None) };
        if head.first > at {
            return Ok(None);
        }
        if at >= head.end() {
            return Ok(Some(head));
        }
        let is_read = segment::read_body(file, offset, &head, &mut self.body)?;
        Ok(Some(head).filter(|head| is_read && head.split(&self.body).is_some()))
    }

    /// Notes what a reader has. It is on disk once it is saved: a reader gets it once more if
    /// this process is killed before.
    pub fn ack(&mut self, id: i64, position: Position) {
        let end = self.end;
        let Some(reader) = self.readers.get_mut(&id) else { return };
        let at = position.0.min(end);
        if at > reader.cursor.at {
            reader.cursor.at = at;
            self.unsaved.insert(id, Some(reader.cursor));
        }
    }

    /// Counts events that a reader was given and will never take. Like all that is said of
    /// readers, it is written with what is written next.
    pub fn refused(&mut self, id: i64, events: u64) {
        self.change(id, |cursor| cursor.dropped += events);
    }

    /// Begins to count anew.
    pub fn forget_dropped(&mut self, id: i64) {
        self.change(id, |cursor| cursor.dropped = 0);
    }

    fn change(&mut self, id: i64, change: impl FnOnce(&mut Cursor)) {
        if let Some(reader) = self.readers.get_mut(&id) {
            change(&mut reader.cursor);
            self.unsaved.insert(id, Some(reader.cursor));
        }
    }

    /// How many events a reader never got since it was added, or since they were forgotten.
    pub fn dropped(&self, id: i64) -> u64 {
        let Some(reader) = self.readers.get(&id) else { return 0 };
        let had = reader.cursor.at.max(reader.given);
        reader.cursor.dropped + self.floor().saturating_sub(had)
    }

    /// How many events are kept for a reader, and about how many bytes.
    pub fn behind(&self, id: i64) -> (u64, u64) {
        let Some(reader) = self.readers.get(&id) else { return (0, 0) };
        let at = reader.cursor.at.max(self.floor());
        let Some(index) = self.segment_of(at) else { return (0, 0) };
        let segment = self.segments[index];
        let found = reader.found.filter(|frame| frame.number == segment.number);
        let before = found.map_or(0, |frame| frame.offset);
        let bytes: u64 = self.segments.range(index..).map(|segment| segment.length).sum();
        (self.end - at, bytes.saturating_sub(before))
    }

    /// The oldest event that is kept.
    pub(super) fn floor(&self) -> u64 {
        self.segments.front().map_or(self.end, |segment| segment.first)
    }
}

impl Reader {
    /// What is before that event is gone.
    fn go_past(&mut self, first: u64) {
        let gone = first.saturating_sub(self.cursor.at);
        self.cursor.at += gone;
        self.cursor.dropped += gone;
    }
}

/// Takes events from this one on out of a frame; how many. None if they can't be read.
fn take(
    head: &Head,
    body: &[u8],
    at: u64,
    wanted: &mut Wanted,
    events: &mut Vec<LogEvent>,
) -> Option<u64> {
    let (mut bytes, _) = head.split(body)?;
    for _ in head.first..at {
        record::skip(&mut bytes)?;
    }
    let mut taken = 0;
    for _ in at..head.end() {
        let event = record::take(&mut bytes)?;
        wanted.take(&event);
        events.push(event);
        taken += 1;
        if wanted.is_met(events) {
            break;
        }
    }
    Some(taken)
}

/// Whether it will not be read by trying again.
fn is_lost(error: &io::Error) -> bool {
    error.kind() == ErrorKind::NotFound || disk::is_bad_sector(error)
}
