//! How long something took, over many.

use crate::RecordId;
use serde::Serialize;

/// In milliseconds.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct Times {
    pub count: usize,
    pub p50_ms: f64,
    pub p99_ms: f64,
    pub worst_ms: f64,
    /// The record that took longest, and when it was sent, in seconds since the
    /// begin.
    pub worst: RecordId,
    pub worst_at_seconds: f64,
}

impl Times {
    /// Of moments, durations in microseconds and what they are of; none of
    /// none.
    pub(crate) fn from_waits(mut waits: Vec<(u64, u64, RecordId)>) -> Option<Self> {
        waits.sort_unstable_by_key(|(_, took, _)| *took);
        let (at, took, worst) = *waits.last()?;
        let ms = |micros: u64| std::time::Duration::from_micros(micros).as_secs_f64() * 1e3;
        // The smallest that so many of a hundred are not above.
        let percentile = |hundredth: usize| {
            let rank = (waits.len() * hundredth).div_ceil(100).max(1);
            ms(waits[rank - 1].1)
        };
        Some(Self {
            count: waits.len(),
            p50_ms: percentile(50),
            p99_ms: percentile(99),
            worst_ms: ms(took),
            worst,
            worst_at_seconds: ms(at) / 1e3,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_and_when_it_was_worst() {
        let id = |number| RecordId { client: 0, number };
        assert_eq!(Times::from_waits(vec![]), None);
        let waits = (1..=100).map(|n| (n * 1_000_000, n * 1000, id(n))).rev().collect();
        let times = Times::from_waits(waits).unwrap();
        assert_eq!((times.p50_ms, times.p99_ms, times.worst_ms), (50.0, 99.0, 100.0));
        assert_eq!((times.worst, times.worst_at_seconds), (id(100), 100.0));
        let one = Times::from_waits(vec![(0, 7000, id(1))]).unwrap();
        assert_eq!((one.p50_ms, one.p99_ms, one.worst_ms), (7.0, 7.0, 7.0));
    }
}
