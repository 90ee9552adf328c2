//! The window that a server's samples go into, while its time is not over.
//!
//! Thousands of these are in memory at once, so each is kept as the rows in which samples
//! came, and a row has only the numbers that differ from those of the row before: most of
//! a server's numbers stay the same for minutes. [`OpenWindow::window`] makes columns of it.

use crate::sample::{Measure, Of, Sample};
use crate::tier::Tier;
use crate::window::{SLOTS, Window};
use model::Series;
use std::collections::BTreeMap;

/// The bytes of a window grow by so many at once; twice as many as before would be half
/// empty.
const GROWTH: usize = 512;

#[derive(Clone, PartialEq, Debug)]
pub struct OpenWindow {
    /// Unix seconds, a multiple of the span of [`Tier::Sampled`].
    pub start: i64,
    /// The slots that samples came for, the first in the lowest bit.
    slots: u64,
    /// Topics' and groups' measures; a row names one by its place here.
    named: Vec<Measure>,
    /// One row after another.
    bytes: Vec<u8>,
    /// What the last row says of the server; a bit for each series that it has.
    last: Last,
}

/// The state that a row is compared with, on the way in and on the way out.
#[derive(Clone, PartialEq, Debug)]
struct Last {
    present: u64,
    values: [f32; Series::ALL.len()],
}

const _: () = assert!(Series::ALL.len() <= 64, "a set of series is a number of 64 bits");
const _: () = assert!(SLOTS < 256, "a slot is a byte of a row");

impl Default for Last {
    fn default() -> Self {
        Self { present: 0, values: [0.0; Series::ALL.len()] }
    }
}

impl OpenWindow {
    /// The one that a time falls into.
    pub fn around(at: i64) -> Self {
        let start = Window::around(at, Tier::Sampled).start;
        let (named, bytes) = (Vec::new(), Vec::new());
        Self { start, slots: 0, named, bytes, last: Last::default() }
    }

    pub fn end(&self) -> i64 {
        self.start + Tier::Sampled.span()
    }

    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// Takes a sample that falls into it. Whether that changes anything.
    pub fn take(&mut self, sample: &Sample) -> bool {
        let Some(slot) = self.slot(sample.at) else { return false };
        if self.slots & (1 << slot) == 0 {
            return self.push(slot, sample);
        }
        // One that came before, or another of the same time: of topics, or corrected. That
        // is seldom, so the rows are made anew, one for each slot: however often a sample
        // comes, they don't become more.
        let mut window = self.window();
        let changes = window.take(sample);
        if changes {
            *self = Self::of(&window);
        }
        changes
    }

    /// The same points as columns.
    pub fn window(&self) -> Window {
        self.between(i64::MIN, i64::MAX)
    }

    /// The points from a time up to and without another, as columns.
    pub fn between(&self, from: i64, to: i64) -> Window {
        let mut window = Window::around(self.start, Tier::Sampled);
        let (mut rows, mut last) = (Rows(&self.bytes), Last::default());
        while let Some((slot, named)) = rows.next(&mut last) {
            let at = self.start + i64::from(slot) * Tier::Sampled.step();
            if !(from..to).contains(&at) {
                continue;
            }
            for (series, value) in last.values() {
                window.set(Measure::Server(series), Of::Average, at, value);
            }
            for (place, value) in named {
                let measure = self.named[usize::from(place)].clone();
                window.set(measure, Of::Average, at, value);
            }
        }
        window
    }

    fn of(window: &Window) -> Self {
        let mut rows: BTreeMap<i64, Row> = BTreeMap::new();
        for (measure, of) in window.columns.keys() {
            for (at, value) in window.points(measure, *of) {
                rows.entry(at).or_default().add(measure.clone(), value);
            }
        }
        let mut open = Self::around(window.start);
        for (at, row) in rows {
            if let Some(slot) = open.slot(at) {
                open.push_row(slot, &row.last, row.named);
            }
        }
        open
    }

    fn slot(&self, at: i64) -> Option<u8> {
        let slot = (at - self.start).div_euclid(Tier::Sampled.step());
        u8::try_from(slot).ok().filter(|slot| usize::from(*slot) < SLOTS)
    }

    /// Whether the sample says anything at all.
    fn push(&mut self, slot: u8, sample: &Sample) -> bool {
        let mut row = Row::default();
        for (measure, value) in sample.measures() {
            row.add(measure, value);
        }
        let says = row.last.present != 0 || !row.named.is_empty();
        if says {
            self.push_row(slot, &row.last, row.named);
        }
        says
    }

    fn push_row(&mut self, slot: u8, next: &Last, named: Vec<(Measure, f32)>) {
        let places = self.places(named);
        let changed = self.last.changed(next);
        let length = HEAD + 4 * changed.count_ones() as usize + NAMED * places.len();
        if self.bytes.capacity() - self.bytes.len() < length {
            self.bytes.reserve_exact(length.max(GROWTH));
        }
        self.bytes.push(slot);
        let count = u16::try_from(places.len()).expect("a measure has one place, below 65535");
        self.bytes.extend(count.to_le_bytes());
        self.bytes.extend(next.present.to_le_bytes());
        self.bytes.extend(changed.to_le_bytes());
        for at in bits(changed) {
            self.bytes.extend(next.values[at].to_le_bytes());
            self.last.values[at] = next.values[at];
        }
        for (place, value) in places {
            self.bytes.extend(place.to_le_bytes());
            self.bytes.extend(value.to_le_bytes());
        }
        self.last.present = next.present;
        self.slots |= 1 << slot;
    }

    /// Where measures are in the list, which learns those that are new. What no place can be
    /// given to is left out; that is far beyond the cap on topics.
    fn places(&mut self, named: Vec<(Measure, f32)>) -> Vec<(u16, f32)> {
        let mut places = Vec::with_capacity(named.len());
        // Most often the next one of the list: samples name them in the same order.
        let mut likely = 0;
        for (measure, value) in named {
            let known = if self.named.get(likely) == Some(&measure) {
                Some(likely)
            } else {
                self.named.iter().position(|it| *it == measure)
            };
            let at = known.unwrap_or(self.named.len());
            let Some(place) = u16::try_from(at).ok().filter(|it| *it < u16::MAX) else { continue };
            if known.is_none() {
                self.named.push(measure);
            }
            places.push((place, value));
            likely = at + 1;
        }
        places
    }
}

/// A row of a window that is being made.
#[derive(Default)]
struct Row {
    last: Last,
    named: Vec<(Measure, f32)>,
}

impl Row {
    fn add(&mut self, measure: Measure, value: f32) {
        match measure {
            Measure::Server(series) => {
                self.last.present |= 1 << (series as u32);
                self.last.values[series as usize] = value;
            }
            named => self.named.push((named, value)),
        }
    }
}

impl Last {
    /// The series of the next row whose values are not the same bits as here.
    fn changed(&self, next: &Self) -> u64 {
        let differs = |at: &usize| self.values[*at].to_bits() != next.values[*at].to_bits();
        bits(next.present).filter(differs).fold(0, |changed, at| changed | 1 << at)
    }

    fn values(&self) -> impl Iterator<Item = (Series, f32)> {
        bits(self.present).map(|at| (Series::ALL[at], self.values[at]))
    }
}

/// The places of the bits that are set, the lowest first.
fn bits(set: u64) -> impl Iterator<Item = usize> {
    (0..64).filter(move |at| set & (1 << at) != 0)
}

/// A slot, how many named values there are, and two sets of series.
const HEAD: usize = 1 + 2 + 8 + 8;
/// The place of a measure, and its value.
const NAMED: usize = 2 + 4;

/// Rows that are still to be read.
struct Rows<'a>(&'a [u8]);

impl<'a> Rows<'a> {
    /// The slot of the next row and what it has of topics and groups; `last` becomes what it
    /// says of the server.
    fn next(&mut self, last: &mut Last) -> Option<(u8, impl Iterator<Item = (u16, f32)> + 'a)> {
        let [slot] = self.array()?;
        let named = usize::from(u16::from_le_bytes(self.array()?));
        last.present = u64::from_le_bytes(self.array()?);
        for at in bits(u64::from_le_bytes(self.array()?)) {
            last.values[at] = f32::from_le_bytes(self.array()?);
        }
        let (named, rest) = self.0.split_at_checked(named * NAMED)?;
        self.0 = rest;
        let pair = |[a, b, rest @ ..]: &[u8; NAMED]| {
            (u16::from_le_bytes([*a, *b]), f32::from_le_bytes(*rest))
        };
        Some((slot, named.as_chunks().0.iter().map(pair)))
    }

    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (array, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(*array)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::TopicSeries;
    use std::sync::Arc;

    fn sample(at: i64, values: &[(Series, f32)], topics: &[(&str, f32)]) -> Sample {
        let topic = |(name, value): &(&str, f32)| {
            (Arc::from(*name), BTreeMap::from([(TopicSeries::LogSize, *value)]))
        };
        Sample {
            at,
            values: values.iter().copied().collect(),
            topics: topics.iter().map(topic).collect(),
            ..<_>::default()
        }
    }

    #[test]
    fn a_sample_twice_is_one_point_and_one_outside_is_none() {
        let mut open = OpenWindow::around(1_000_000_195);
        assert_eq!((open.start, open.end()), (999_999_600, 1_000_000_200));
        let cpu = |at: i64| sample(at, &[(Series::Cpu, 5.0)], &[]);
        assert!(!open.take(&cpu(open.end())) && !open.take(&cpu(open.start - 10)));
        assert!(!open.take(&sample(open.start, &[], &[])) && open.is_empty());
        assert!(open.take(&cpu(open.start + 10)) && !open.take(&cpu(open.start + 10)));
        assert_eq!(open.window().last(), Some(open.start + 10));
    }

    #[test]
    fn numbers_that_stay_take_no_room() {
        let mut open = OpenWindow::around(0);
        let values: Vec<_> = Series::ALL.iter().map(|series| (*series, 7.5)).collect();
        for at in 0..60 {
            assert!(open.take(&sample(at * 10, &values, &[])));
        }
        assert_eq!(open.bytes.len(), 60 * HEAD + 4 * Series::ALL.len());
        assert!(open.bytes.capacity() < open.bytes.len() + GROWTH);
        assert_eq!(open.window().columns.len(), Series::ALL.len());
    }

    #[test]
    fn a_part_has_the_points_of_its_time_and_no_others() {
        let mut open = OpenWindow::around(0);
        for at in 0..60_u8 {
            let value = f32::from(at / 20);
            open.take(&sample(i64::from(at) * 10, &[(Series::Cpu, value)], &[("a", value)]));
        }
        let part = open.between(180, 240);
        assert_eq!((part.start, part.columns.len()), (0, 2));
        for measure in part.columns.keys().map(|(measure, _)| measure) {
            let points: Vec<_> = part.points(measure, Of::Average).collect();
            let expected = [(180, 0.0), (190, 0.0), (200, 1.0), (210, 1.0), (220, 1.0), (230, 1.0)];
            assert_eq!(points, expected, "{measure}");
        }
        assert!(open.between(600, 1200).is_empty());
    }

    #[test]
    fn a_sample_that_keeps_changing_takes_one_row() {
        let mut open = OpenWindow::around(0);
        for value in 1..1000_u16 {
            let value = f32::from(value);
            assert!(open.take(&sample(0, &[(Series::Cpu, value)], &[("a", value)])));
        }
        assert_eq!(open.bytes.len(), HEAD + 4 + NAMED);
    }
}
