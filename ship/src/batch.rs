//! Events and points cut into batches that a system takes. Pure.
//!
//! Nothing is lost and the order stays: a batch holds the first items that are there, and the
//! number of them that it is done with. No batch is larger than its limits.

use crate::about::Timed;
use model::{SignedDuration, Timestamp};

/// Of a body before it is compressed, also where a system takes more: it is held in memory.
pub const MOST_BYTES: usize = 512 << 10;
/// Less room than this for a message, and it is not worth sending.
const LEAST_ROOM: usize = 16;

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
        if batch.written == most.min(limits.items) || !entries.fits(item, limits.span) {
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
        // Shorter by what it is too long by, and by a little for what is no message.
        room = room.min(length) * most / length;
        room -= room / 8;
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
    fn fits<T: Timed>(&self, item: &T, span: Option<SignedDuration>) -> bool {
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

#[cfg(test)]
mod tests {
    use super::*;
    use model::{LogEvent, LogLevel, LogSource};
    use proptest::prelude::*;

    /// JSON of messages alone.
    struct Plain(Limits);

    impl Dialect<LogEvent> for Plain {
        fn limits(&self) -> Limits {
            self.0.clone()
        }

        fn frame(&self) -> Frame {
            Frame { open: b"{\"all\":[".to_vec(), between: ",", close: "]}" }
        }

        fn write(&self, event: &LogEvent, spot: Spot, out: &mut Vec<u8>) {
            let text = crate::text::shorten(&event.message, spot.room);
            let number = event.at.as_second();
            serde_json::to_writer(out, &(number, text)).unwrap();
        }
    }

    fn now() -> Timestamp {
        "2026-11-19T10:00:00Z".parse().unwrap()
    }

    fn event(age: i64, message: String) -> LogEvent {
        LogEvent {
            at: now() - SignedDuration::from_secs(age),
            level: LogLevel::Info,
            source: LogSource::Broker,
            logger: String::new(),
            message,
        }
    }

    /// What all batches hold, and how many were given up.
    fn all(limits: &Limits, events: &[LogEvent], most: usize) -> (Vec<Vec<(i64, String)>>, usize) {
        let dialect = Plain(limits.clone());
        let (mut batches, mut done, mut never) = (Vec::new(), 0, 0);
        while done < events.len() {
            let batch = cut(&dialect, &events[done..], most, now());
            assert!(batch.taken > 0, "it goes on");
            done += batch.taken;
            never += batch.never();
            if batch.written > 0 {
                assert!(batch.body.len() <= limits.bytes, "{}", batch.body.len());
                let body: serde_json::Value = serde_json::from_slice(&batch.body).unwrap();
                let items = serde_json::from_value(body["all"].clone()).unwrap();
                batches.push(items);
                assert_eq!(batches.last().map(Vec::len), Some(batch.written));
            }
        }
        (batches, never)
    }

    fn some_events() -> impl Strategy<Value = Vec<LogEvent>> {
        let message = prop_oneof![".{0,60}", "[\u{1}-\u{8}]{0,900}", "ö{0,2000}"];
        let one = (0i64..200_000, message).prop_map(|(age, message)| event(age, message));
        proptest::collection::vec(one, 0..60)
    }

    proptest! {
        #[test]
        fn nothing_is_lost_and_no_batch_is_beyond_its_limits(
            events in some_events(), bytes in 600usize..4000, items in 1usize..20, most in 1usize..20,
        ) {
            let limits = Limits { bytes, items, item: bytes / 2, ..Limits::default() };
            let (batches, never) = all(&limits, &events, most);
            prop_assert_eq!(never, 0);
            prop_assert!(batches.iter().all(|batch| batch.len() <= items.min(most)));
            let came: Vec<_> = batches.concat();
            prop_assert_eq!(came.len(), events.len());
            for ((at, text), event) in came.iter().zip(&events) {
                prop_assert_eq!(*at, event.at.as_second());
                let kept = text.split(" … [").next().unwrap();
                let is_cut = !kept.is_empty() && event.message.starts_with(kept);
                prop_assert!(text == &event.message || is_cut, "{text}");
            }
        }

        #[test]
        fn batches_that_have_to_be_are_in_the_order_of_time(events in some_events()) {
            let day = SignedDuration::from_hours(24);
            let old = SignedDuration::from_hours(40);
            let limits = Limits { bytes: 9000, span: Some(day), oldest: Some(old), ..Limits::default() };
            let (batches, never) = all(&limits, &events, usize::MAX);
            let too_old = |event: &&LogEvent| now().duration_since(event.at) > old;
            prop_assert_eq!(never, events.iter().filter(too_old).count());
            for batch in &batches {
                prop_assert!(batch.is_sorted_by_key(|(at, _)| *at));
                prop_assert!(batch[batch.len() - 1].0 - batch[0].0 < 86_400);
            }
            let mut came: Vec<_> = batches.concat().into_iter().map(|(at, _)| at).collect();
            let kept = events.iter().filter(|event| !too_old(event));
            let mut expected: Vec<_> = kept.map(|event| event.at.as_second()).collect();
            came.sort_unstable();
            expected.sort_unstable();
            prop_assert_eq!(came, expected);
        }
    }

    #[test]
    fn what_no_attempt_would_help_is_given_up() {
        let limits = Limits {
            oldest: Some(SignedDuration::from_hours(1)),
            newest: Some(SignedDuration::from_mins(10)),
            ..Limits::default()
        };
        let check = |ages: &[i64], expected: (usize, usize)| {
            let events: Vec<_> = ages.iter().map(|age| event(*age, "x".into())).collect();
            let batch = cut(&Plain(limits.clone()), &events, usize::MAX, now());
            assert_eq!((batch.taken, batch.never()), expected, "{ages:?}");
        };
        check(&[], (0, 0));
        check(&[0, 3600, -600], (3, 0));
        check(&[3601, 0, -601], (3, 2));
        check(&[3601, 3602], (2, 2));
    }

    #[test]
    fn a_long_one_is_cut_and_not_lost() {
        let limits = Limits { bytes: 2000, item: 1000, ..Limits::default() };
        let (batches, never) = all(&limits, &[event(0, "\u{1}".repeat(5000))], 9);
        let text = &batches[0][0].1;
        assert!(text.ends_with(" more bytes cut]") && text.len() > 120, "{}", text.len());
        assert_eq!(never, 0);
    }
}
