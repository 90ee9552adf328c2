//! Events and points cut into batches that a system takes. Pure.
//!
//! Nothing is lost and the order stays: a batch is of the first that are there, and says how
//! many of them it is done with. A batch is never larger than its limits, whatever is in it.

use crate::about::Timed;
use model::{SignedDuration, Timestamp};

/// Of a body before it is compressed, whatever a system would take: it is held in memory.
pub const MOST_BYTES: usize = 512 << 10;
/// Less room than this for a message, and it is not worth sending.
const LEAST_ROOM: usize = 64;

/// What a system takes in one go.
#[derive(Clone, Debug)]
pub struct Limits {
    /// Of a whole body, with what frames it.
    pub bytes: usize,
    pub items: usize,
    /// Of one item as it is written, and of a message in it before it is.
    pub item: usize,
    /// Older ones are refused.
    pub oldest: Option<SignedDuration>,
    /// Those of a later time are refused.
    pub newest: Option<SignedDuration>,
    /// A batch is in the order of time, and from its first to its last less than this.
    pub span: Option<SignedDuration>,
}

impl Default for Limits {
    fn default() -> Self {
        let item = MOST_BYTES / 2;
        let (bytes, items) = (MOST_BYTES, usize::MAX);
        Self { bytes, items, item, oldest: None, newest: None, span: None }
    }
}

/// What is around the items of a body.
#[derive(Clone, Debug, Default)]
pub struct Frame {
    pub open: Vec<u8>,
    pub between: &'static str,
    pub close: &'static str,
}

/// Where in a batch an item is written.
#[derive(Clone, Copy, Debug)]
pub struct Spot {
    /// From 1.
    pub number: usize,
    /// For a message, in bytes.
    pub room: usize,
}

/// How a system wants things written.
pub trait Dialect<T> {
    fn limits(&self) -> Limits;
    fn frame(&self) -> Frame;
    /// Adds the item.
    fn write(&self, item: &T, spot: Spot, out: &mut Vec<u8>);
}

/// The first of some items, as they are sent.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Batch {
    pub body: Vec<u8>,
    /// In the body.
    pub written: usize,
    /// Of those that were given: what is written, and what no attempt would help.
    pub taken: usize,
}

impl Batch {
    /// How many were given up.
    pub fn never(&self) -> usize {
        self.taken - self.written
    }
}

/// A batch of at most so many. One that is empty takes nothing but what is given up.
pub fn cut<T: Timed>(dialect: &impl Dialect<T>, items: &[T], most: usize, now: Timestamp) -> Batch {
    let (limits, frame) = (dialect.limits(), dialect.frame());
    let most_bytes = limits.bytes.min(MOST_BYTES) - frame.close.len();
    let mut entries = Entries::default();
    let mut batch = Batch { body: frame.open.clone(), ..Batch::default() };
    for item in items {
        if batch.written == most.min(limits.items) || !entries.take(item, limits.span) {
            break;
        }
        let begin = batch.body.len();
        if batch.written > 0 {
            batch.body.extend_from_slice(frame.between.as_bytes());
        }
        let from = batch.body.len();
        let fits = is_in_time(item, &limits, now)
            && item.is_finite()
            && write(dialect, item, batch.written + 1, limits.item, &mut batch.body);
        let alone = batch.written == 0;
        if !fits || (alone && batch.body.len() > most_bytes) {
            batch.body.truncate(begin);
            batch.taken += 1;
        } else if batch.body.len() > most_bytes {
            batch.body.truncate(begin);
            break;
        } else {
            entries.note(item, from..batch.body.len());
            batch.written += 1;
            batch.taken += 1;
        }
    }
    if limits.span.is_some() {
        batch.body = entries.in_order(&batch.body, &frame);
    }
    batch.body.extend_from_slice(frame.close.as_bytes());
    batch
}

fn is_in_time<T: Timed>(item: &T, limits: &Limits, now: Timestamp) -> bool {
    let age = now.duration_since(item.at());
    let old = limits.oldest.is_some_and(|oldest| age > oldest);
    let new = limits.newest.is_some_and(|newest| -age > newest);
    !old && !new
}

/// An item as long as it may be: what JSON makes of control characters is six times as long.
/// False: it can't be cut to fit.
fn write<T>(
    dialect: &impl Dialect<T>,
    item: &T,
    number: usize,
    most: usize,
    body: &mut Vec<u8>,
) -> bool {
    let begin = body.len();
    let mut room = most;
    loop {
        dialect.write(item, Spot { number, room }, body);
        let length = body.len() - begin;
        if length <= most {
            return true;
        }
        body.truncate(begin);
        room = (room.min(length) / 2).min(room - (length - most).min(room));
        if room < LEAST_ROOM {
            return false;
        }
    }
}

/// Where the items of a batch lie, for those that have to be in order.
#[derive(Default)]
struct Entries {
    all: Vec<(Timestamp, std::ops::Range<usize>)>,
    first: Option<Timestamp>,
    last: Option<Timestamp>,
}

impl Entries {
    fn take<T: Timed>(&self, item: &T, span: Option<SignedDuration>) -> bool {
        let (Some(span), Some(first), Some(last)) = (span, self.first, self.last) else {
            return true;
        };
        last.max(item.at()).duration_since(first.min(item.at())) < span
    }

    fn note<T: Timed>(&mut self, item: &T, at: std::ops::Range<usize>) {
        let time = item.at();
        self.first = Some(self.first.map_or(time, |first| first.min(time)));
        self.last = Some(self.last.map_or(time, |last| last.max(time)));
        self.all.push((time, at));
    }

    fn in_order(&mut self, body: &[u8], frame: &Frame) -> Vec<u8> {
        if self.all.is_sorted_by_key(|(time, _)| *time) {
            return body.to_vec();
        }
        // Stable: what was written at the same time stays as it was written.
        self.all.sort_by_key(|(time, _)| *time);
        let mut sorted = frame.open.clone();
        for (number, (_, at)) in self.all.iter().enumerate() {
            if number > 0 {
                sorted.extend_from_slice(frame.between.as_bytes());
            }
            sorted.extend_from_slice(&body[at.clone()]);
        }
        sorted
    }
}
