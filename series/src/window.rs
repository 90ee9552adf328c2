//! Sixty points of every measure of one server: what a row of the history holds.

use crate::bucket::Buckets;
use crate::column::Column;
use crate::sample::{Measure, Of, Sample};
use crate::tier::Tier;
use crate::{align, narrow};
use std::collections::BTreeMap;

/// Points in a window. A set of them is a number of 64 bits.
pub const SLOTS: usize = 60;

#[derive(Clone, PartialEq, Debug)]
pub struct Window {
    /// Unix seconds, a multiple of the tier's span.
    pub start: i64,
    pub tier: Tier,
    pub columns: BTreeMap<(Measure, Of), Column>,
}

impl Window {
    /// The one that a time falls into.
    pub fn around(at: i64, tier: Tier) -> Self {
        Self { start: align(at, tier.span()), tier, columns: BTreeMap::new() }
    }

    pub fn end(&self) -> i64 {
        self.start + self.tier.span()
    }

    pub fn is_empty(&self) -> bool {
        self.columns.is_empty()
    }

    /// Takes a sample that falls into it. Whether that changes anything.
    pub fn take(&mut self, sample: &Sample) -> bool {
        let mut changed = false;
        for (measure, value) in sample.measures() {
            changed |= self.set(measure, Of::Average, sample.at, value);
        }
        changed
    }

    /// Whether that changes anything; a time outside changes nothing.
    pub fn set(&mut self, measure: Measure, of: Of, at: i64, value: f32) -> bool {
        let Some(slot) = self.slot(at) else { return false };
        self.columns.entry((measure, of)).or_default().set(slot, value)
    }

    fn slot(&self, at: i64) -> Option<usize> {
        let slot = (at - self.start).div_euclid(self.tier.step());
        usize::try_from(slot).ok().filter(|slot| *slot < SLOTS)
    }

    /// The points of one measure with their times.
    pub fn points(&self, measure: &Measure, of: Of) -> impl Iterator<Item = (i64, f32)> {
        let found = self.columns.get(&(measure.clone(), of));
        found.into_iter().flat_map(move |column| self.times(column))
    }

    fn times(&self, column: &Column) -> impl Iterator<Item = (i64, f32)> {
        let (start, step) = (self.start, self.tier.step());
        column.points().map(move |(slot, value)| {
            let slot = i64::try_from(slot).expect("a slot is below sixty");
            (start + slot * step, value)
        })
    }

    /// The time of the last point.
    pub fn last(&self) -> Option<i64> {
        self.columns.values().filter_map(|column| Some(self.times(column).last()?.0)).max()
    }

    /// Takes over all points of another window of the same time; where both have
    /// one, the other's counts.
    pub fn merge(&mut self, other: &Window) {
        for ((measure, of), column) in &other.columns {
            for (at, value) in other.times(column) {
                self.set(measure.clone(), *of, at, value);
            }
        }
    }

    /// The same points, made fewer: averages and maxima of the wider steps that
    /// this window covers as a whole. Only sampled points can be thinned out.
    #[must_use]
    pub fn thinned(&self, tier: Tier) -> Window {
        let mut thin = Window::around(self.start, tier);
        for ((measure, _), column) in &self.columns {
            let mut buckets = Buckets::new(self.start, self.end(), tier.step());
            for (at, value) in self.times(column) {
                buckets.add(at, value);
            }
            for (at, bucket) in buckets.filled() {
                thin.set(measure.clone(), Of::Average, at, narrow(bucket.average()));
                thin.set(measure.clone(), Of::Max, at, bucket.max());
            }
        }
        thin
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::Series;

    fn cpu() -> Measure {
        Measure::Server(Series::Cpu)
    }

    fn sample(at: i64, value: f32) -> Sample {
        Sample { at, values: BTreeMap::from([(Series::Cpu, value)]), ..<_>::default() }
    }

    #[test]
    fn a_sample_twice_is_one_point_and_one_outside_is_none() {
        let mut window = Window::around(1_000_000_195, Tier::Sampled);
        assert_eq!((window.start, window.end()), (999_999_600, 1_000_000_200));
        assert!(window.take(&sample(999_999_610, 5.0)));
        assert!(!window.take(&sample(999_999_610, 5.0)));
        assert!(!window.take(&sample(window.end(), 5.0)));
        assert!(!window.take(&sample(window.start - 10, 5.0)));
        assert_eq!(window.last(), Some(999_999_610));
        assert_eq!(window.points(&cpu(), Of::Average).collect::<Vec<_>>(), [(999_999_610, 5.0)]);
    }

    #[test]
    fn thinned_out_it_keeps_average_and_peak_of_each_minute() {
        let mut window = Window::around(7200, Tier::Sampled);
        for (at, value) in [(7200, 1.0), (7210, 2.0), (7250, 6.0), (7320, 9.0)] {
            window.take(&sample(at, value));
        }
        let minutes = window.thinned(Tier::Minute);
        assert_eq!(minutes.start, 7200);
        let of = |of| minutes.points(&cpu(), of).collect::<Vec<_>>();
        assert_eq!(of(Of::Average), [(7200, 3.0), (7320, 9.0)]);
        assert_eq!(of(Of::Max), [(7200, 6.0), (7320, 9.0)]);
        let ten = window.thinned(Tier::TenMinutes);
        assert_eq!(ten.start, 0);
        assert_eq!(ten.points(&cpu(), Of::Average).collect::<Vec<_>>(), [(7200, 4.5)]);
    }

    #[test]
    fn of_two_windows_the_later_point_counts() {
        let mut kept = Window::around(0, Tier::Sampled);
        kept.take(&sample(0, 1.0));
        kept.take(&sample(10, 1.0));
        let mut open = Window::around(0, Tier::Sampled);
        open.take(&sample(10, 2.0));
        open.take(&sample(20, 3.0));
        kept.merge(&open);
        let points: Vec<_> = kept.points(&cpu(), Of::Average).collect();
        assert_eq!(points, [(0, 1.0), (10, 2.0), (20, 3.0)]);
    }
}
