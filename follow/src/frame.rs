//! What is appended to a segment in one write: some events of one log, and the state that
//! changed with them. A frame is whole or, by its length and sum, known not to be.

use crate::record::Record;
use crate::state::State;

/// Length of the body, sum of all that follows it, number of the first event, how many there
/// are, length of their bytes. Then the events, and the state as JSON.
pub const HEAD: usize = 24;
/// No frame that we wrote is as long.
const LONGEST: u32 = 64 << 20;
/// Room that is kept between frames.
const KEPT: usize = 96 << 10;

/// A frame in the making.
pub struct Frame {
    bytes: Vec<u8>,
    /// Where the events end.
    events: usize,
    count: u32,
}

impl Frame {
    pub fn new() -> Self {
        Self { bytes: vec![0; HEAD], events: HEAD, count: 0 }
    }

    pub fn clear(&mut self) {
        self.bytes.truncate(HEAD);
        self.bytes.shrink_to(KEPT);
        (self.events, self.count) = (HEAD, 0);
    }

    pub fn count(&self) -> u32 {
        self.count
    }

    pub fn push(&mut self, record: &Record<'_>) {
        self.bytes.truncate(self.events);
        record.write(&mut self.bytes);
        self.events = self.bytes.len();
        self.count += 1;
    }

    /// Its bytes, if its first event has this number. May be asked for again.
    pub fn bytes(&mut self, first: u64, state: &State) -> &[u8] {
        self.bytes.truncate(self.events);
        if !state.is_empty() {
            serde_json::to_writer(&mut self.bytes, state).expect("numbers and words are JSON");
        }
        let length = |bytes: usize| u32::try_from(bytes).unwrap_or(u32::MAX);
        let body = length(self.bytes.len() - HEAD);
        self.bytes[..4].copy_from_slice(&body.to_le_bytes());
        self.bytes[8..16].copy_from_slice(&first.to_le_bytes());
        self.bytes[16..20].copy_from_slice(&self.count.to_le_bytes());
        self.bytes[20..HEAD].copy_from_slice(&length(self.events - HEAD).to_le_bytes());
        let sum = crc32c::crc32c(&self.bytes[8..]);
        self.bytes[4..8].copy_from_slice(&sum.to_le_bytes());
        &self.bytes
    }
}

/// The fixed part of a frame that was written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Head {
    /// Of the body.
    pub length: usize,
    pub first: u64,
    pub count: u32,
    events: usize,
    sum: u32,
    /// Of what is in the head.
    own: u32,
}

impl Head {
    /// None if it is none.
    pub fn parse(bytes: &[u8; HEAD]) -> Option<Self> {
        let word = |at: usize| {
            let word: [u8; 4] = bytes[at..at + 4].try_into().expect("it is four bytes");
            u32::from_le_bytes(word)
        };
        let (length, count, events) = (word(0), word(16), word(20));
        let first = u64::from(word(8)) | u64::from(word(12)) << 32;
        let is_one = length <= LONGEST && events <= length && count <= events;
        let size = |word: u32| usize::try_from(word).ok();
        is_one.then_some(Self {
            length: size(length)?,
            first,
            count,
            events: size(events)?,
            sum: word(4),
            own: crc32c::crc32c(&bytes[8..]),
        })
    }

    /// The number of the first event after it.
    pub fn end(&self) -> u64 {
        self.first.saturating_add(u64::from(self.count))
    }

    /// Its events and its state, if the body is what was written.
    pub fn split<'a>(&self, body: &'a [u8]) -> Option<(&'a [u8], &'a [u8])> {
        let is_whole =
            body.len() == self.length && crc32c::crc32c_append(self.own, body) == self.sum;
        is_whole.then(|| body.split_at(self.events))
    }
}

/// The state of a frame, which may be empty.
pub fn state(bytes: &[u8]) -> Option<State> {
    if bytes.is_empty() { Some(State::default()) } else { serde_json::from_slice(bytes).ok() }
}
