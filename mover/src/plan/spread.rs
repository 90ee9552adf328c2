//! Evens out bytes, and apart from that the number of replicas by moving the smallest: a broker
//! with few replicas can't lead its share of partitions.
//!
//! Brokers above the band give until they are within it, then those below get. Nothing that
//! is within the band leaves it. Large and small partitions are taken as they come, so that a
//! broker that gets its share of bytes gets about its share of replicas too; only large ones
//! are taken from a broker that has few.

use super::band::Band;
use super::shares::shares;
use crate::layout::{Layout, signed};
use std::cmp::Reverse;
use std::vec::IntoIter;

/// How far a broker may be from the mean, in percent, in bytes and in replicas.
const PERCENT: u64 = 5;

/// Whether anything was moved.
pub fn even_bytes(layout: &mut Layout<'_>) -> bool {
    even_out(layout, Measure::Bytes)
}

/// Whether anything was moved. Bytes stay as even as they are.
pub fn even_counts(layout: &mut Layout<'_>) -> bool {
    even_out(layout, Measure::Count)
}

fn even_out(layout: &mut Layout<'_>, measure: Measure) -> bool {
    let mut changed = false;
    for care in [Care::Share, Care::Fewer, Care::None] {
        changed |= Spread::new(layout, measure, care).run();
    }
    changed
}

/// How much brokers have, so that all of them can be compared with the mean: a broker whose
/// share is less counts as much as what it lacks.
pub struct Values {
    pub band: Band,
    mean: i64,
    /// What is added to what a broker has.
    offset: Vec<i64>,
}

impl Values {
    pub fn of_bytes(layout: &Layout<'_>) -> Self {
        let shares = shares(layout, |at| layout.bytes(at));
        Self::new(&layout.load[..layout.staying], &shares)
    }

    fn of_counts(layout: &Layout<'_>) -> Self {
        let counts = layout.count[..layout.staying].iter().map(|it| *it as u64);
        Self::new(&counts.collect::<Vec<_>>(), &shares(layout, |_| 1))
    }

    fn new(values: &[u64], shares: &[u64]) -> Self {
        let mean = signed(values.iter().sum::<u64>() / (values.len() as u64).max(1));
        let offset = shares.iter().map(|share| mean - signed(*share)).collect();
        Self { band: Band::around_mean(values, PERCENT), mean, offset }
    }

    pub fn value(&self, broker: usize, has: u64) -> i64 {
        signed(has) + self.offset[broker]
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Measure {
    Bytes,
    Count,
}

/// How a topic is kept spread while its replicas move: from the most care to none.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Care {
    /// From a broker with more than its share of the topic to one with less.
    Share,
    /// To a broker with fewer of the topic.
    Fewer,
    None,
}

struct Spread<'a, 'b> {
    layout: &'a mut Layout<'b>,
    measure: Measure,
    care: Care,
    bytes: Values,
    counts: Values,
    band: Band,
}

impl<'a, 'b> Spread<'a, 'b> {
    fn new(layout: &'a mut Layout<'b>, measure: Measure, care: Care) -> Self {
        let (bytes, counts) = (Values::of_bytes(layout), Values::of_counts(layout));
        let band = if measure == Measure::Bytes { bytes.band } else { counts.band };
        Self { layout, measure, care, bytes, counts, band }
    }

    fn run(&mut self) -> bool {
        let mut changed = false;
        for from in self.by_value().into_iter().rev() {
            if self.value(from) > self.band.high {
                changed |= self.give(from);
            }
        }
        for to in self.by_value() {
            if self.value(to) < self.band.low {
                changed |= self.get(to);
            }
        }
        changed
    }

    fn value(&self, broker: usize) -> i64 {
        match self.measure {
            Measure::Bytes => self.bytes.value(broker, self.layout.load[broker]),
            Measure::Count => self.counts.value(broker, self.layout.count[broker] as u64),
        }
    }

    fn amount(&self, at: usize) -> i64 {
        match self.measure {
            Measure::Bytes => signed(self.layout.bytes(at)),
            Measure::Count => 1,
        }
    }

    /// Brokers that stay, the emptiest first.
    fn by_value(&self) -> Vec<usize> {
        let mut brokers: Vec<usize> = (0..self.layout.staying).collect();
        brokers.sort_by_key(|broker| (self.value(*broker), *broker));
        brokers
    }

    fn give(&mut self, from: usize) -> bool {
        let mut changed = false;
        let mut candidates = self.candidates(from);
        while let Some((at, must_fit)) = candidates.next(self.has_few(from)) {
            let surplus = self.value(from) - self.band.high;
            if surplus <= 0 {
                break;
            }
            if must_fit && self.amount(at) > surplus || !self.layout.holds(at, from) {
                continue;
            }
            let places = (0..self.layout.staying).filter(|to| self.may_move(at, from, *to));
            let Some(to) = places.min_by_key(|to| (self.value(*to), *to)) else { continue };
            self.layout.relocate(at, from, to);
            changed = true;
        }
        changed
    }

    fn get(&mut self, to: usize) -> bool {
        let mut changed = false;
        for from in self.by_value().into_iter().rev() {
            let mut candidates = self.candidates(from);
            while let Some((at, must_fit)) = candidates.next(self.has_few(from)) {
                let lack = self.band.low - self.value(to);
                if lack <= 0 {
                    return changed;
                }
                if must_fit && self.amount(at) > lack || !self.layout.holds(at, from) {
                    continue;
                }
                if self.may_move(at, from, to) {
                    self.layout.relocate(at, from, to);
                    changed = true;
                }
            }
        }
        changed
    }

    fn has_few(&self, broker: usize) -> bool {
        let count = self.layout.count[broker] as u64;
        self.counts.value(broker, count) <= self.counts.mean
    }

    fn candidates(&self, broker: usize) -> Candidates {
        let layout = &*self.layout;
        let here = (0..layout.partitions.len()).filter(|at| layout.holds(*at, broker));
        let mut smallest: Vec<usize> = here.collect();
        if self.measure == Measure::Count {
            smallest.sort_by_key(|at| (layout.bytes(*at), *at));
            return Candidates { smallest: smallest.into_iter(), ..Candidates::default() };
        }
        smallest.sort_by_key(|at| (!layout.is_new(*at, broker), layout.bytes(*at), *at));
        let mut any = smallest.clone();
        any.sort_by_key(|at| (!layout.is_new(*at, broker), scrambled(*at)));
        let mut largest = smallest.clone();
        largest.sort_by_key(|at| (!layout.is_new(*at, broker), Reverse(layout.bytes(*at)), *at));
        Candidates {
            any: any.into_iter(),
            largest: largest.into_iter(),
            smallest: smallest.into_iter(),
        }
    }

    fn may_move(&self, at: usize, from: usize, to: usize) -> bool {
        let layout = &*self.layout;
        from != to
            && self.band.is_gain(self.value(from), self.value(to), self.amount(at))
            && self.keeps_topic(at, from, to)
            && (self.care == Care::None || self.value(to) + self.amount(at) <= self.band.high)
            && !layout.holds(at, to)
            && layout.has_room(at, to)
            && layout.keeps_racks(at, from, to)
            && (self.measure == Measure::Bytes || self.keeps_bytes(at, from, to))
    }

    fn keeps_topic(&self, at: usize, from: usize, to: usize) -> bool {
        let layout = &*self.layout;
        match self.care {
            Care::Share => {
                layout.compare_share(at, from).is_gt() && layout.compare_share(at, to).is_lt()
            }
            Care::Fewer => layout.of_topic(at, from) > layout.of_topic(at, to),
            Care::None => true,
        }
    }

    /// Whether bytes are as even afterwards.
    fn keeps_bytes(&self, at: usize, from: usize, to: usize) -> bool {
        let bytes = self.layout.bytes(at);
        let is_within =
            |broker: usize, load: u64| self.bytes.band.has(self.bytes.value(broker, load));
        let (giver, getter) = (self.layout.load[from], self.layout.load[to]);
        let was_within = is_within(from, giver) && is_within(to, getter);
        bytes == 0 || was_within && is_within(from, giver - bytes) && is_within(to, getter + bytes)
    }
}

/// Partitions on a broker in the order in which they are tried. Bytes: those that fit into what
/// is too much or missing, then the smallest that do not; what is copied anyway comes first.
/// Count: the smallest.
#[derive(Default)]
struct Candidates {
    any: IntoIter<usize>,
    largest: IntoIter<usize>,
    smallest: IntoIter<usize>,
}

impl Candidates {
    /// With whether it has to fit. Some are offered more than once.
    fn next(&mut self, has_few: bool) -> Option<(usize, bool)> {
        let fitting = if has_few {
            self.largest.next().or_else(|| self.any.next())
        } else {
            self.any.next().or_else(|| self.largest.next())
        };
        fitting.map(|at| (at, true)).or_else(|| self.smallest.next().map(|at| (at, false)))
    }
}

/// In no order that has to do with topics or sizes, and always the same.
fn scrambled(at: usize) -> u64 {
    (at as u64).wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}
