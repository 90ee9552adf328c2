//! Points brought to a wider step.

use crate::sample::Of;
use crate::{align, narrow, steps};

/// The points that fall into one step.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Bucket {
    count: u32,
    sum: f64,
    max: f32,
}

impl Bucket {
    pub fn average(&self) -> f64 {
        self.sum / f64::from(self.count)
    }

    pub fn max(&self) -> f32 {
        self.max
    }

    pub fn of(&self, of: Of) -> f32 {
        match of {
            Of::Average => narrow(self.average()),
            Of::Max => self.max,
        }
    }
}

/// Steps from a time to another, each with what fell into it.
#[derive(Clone, PartialEq, Debug)]
pub struct Buckets {
    start: i64,
    step: i64,
    all: Vec<Option<Bucket>>,
}

impl Buckets {
    /// From the step that `from` is in, up to and without `to`.
    pub fn new(from: i64, to: i64, step: i64) -> Self {
        let start = align(from, step);
        let count = steps(to - start, step);
        let count = usize::try_from(count).expect("it is not below zero");
        Self { start, step, all: vec![None; count] }
    }

    /// A time outside is left out.
    pub fn add(&mut self, at: i64, value: f32) {
        let place = usize::try_from((at - self.start).div_euclid(self.step)).ok();
        let Some(bucket) = place.and_then(|place| self.all.get_mut(place)) else { return };
        *bucket = Some(match *bucket {
            None => Bucket { count: 1, sum: value.into(), max: value },
            Some(Bucket { count, sum, max }) => {
                Bucket { count: count + 1, sum: sum + f64::from(value), max: max.max(value) }
            }
        });
    }

    /// Every step with its time.
    pub fn all(&self) -> impl Iterator<Item = (i64, Option<Bucket>)> {
        let times = (0i64..).map(move |place| self.start + place * self.step);
        times.zip(self.all.iter().copied())
    }

    pub fn filled(&self) -> impl Iterator<Item = (i64, Bucket)> {
        self.all().filter_map(|(at, bucket)| Some((at, bucket?)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_begin_at_multiples_and_gaps_stay_gaps() {
        let mut buckets = Buckets::new(65, 200, 60);
        for (at, value) in [(59, 9.0), (60, 1.0), (119, 3.0), (180, 5.0), (239, 7.0), (240, 9.0)] {
            buckets.add(at, value);
        }
        let seen: Vec<_> =
            buckets.all().map(|(at, b)| (at, b.map(|b| b.of(Of::Average)))).collect();
        assert_eq!(seen, [(60, Some(2.0)), (120, None), (180, Some(6.0))]);
        assert_eq!(Buckets::new(100, 50, 10).all().count(), 0);
    }
}
