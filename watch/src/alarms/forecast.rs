//! When a disk will be full, if it goes on as it went.
//!
//! What is free is remembered for some hours, a point a minute, and a line is laid
//! through it. A disk that is not filling is full in more hours than anybody asks
//! for. It begins with what the history has: a quarter of an hour after a restart is
//! too little to tell a disk that fills from one where segments come and go.

use crate::Context;
use crate::metrics;
use model::{Series, ServerId, SignedDuration};
use std::collections::VecDeque;
use std::time::Duration;
use tokio::time::timeout;

/// Seconds between points.
const STEP: i64 = 60;
/// Six hours of points: long enough for a day's ups and downs not to count as a
/// trend at once, short enough to notice a new one.
const MOST: usize = 360;
/// The same in seconds.
const REACH: i64 = 360 * STEP;
/// Fewer say nothing.
const LEAST: usize = 15;
/// For what the history has: other alarms wait meanwhile.
const PATIENCE: Duration = Duration::from_secs(2);
/// So long a history is left alone that did not answer in that time.
const LEFT_ALONE: SignedDuration = SignedDuration::from_mins(1);
/// More hours than that are no forecast.
const FAR: f64 = 100_000.0;

/// For a history that may hang: one wait a minute, of all servers together.
pub struct Patience {
    longest: Duration,
    /// When by [`model::Clock::elapsed`] it last did not answer in time.
    hung_at: Option<SignedDuration>,
}

impl Default for Patience {
    fn default() -> Self {
        Self { longest: PATIENCE, hung_at: None }
    }
}

impl Patience {
    /// None if it does not answer, or did not a moment ago.
    pub async fn ask<T>(
        &mut self,
        now: SignedDuration,
        asked: impl Future<Output = T>,
    ) -> Option<T> {
        if self.hung_at.is_some_and(|at| now - at < LEFT_ALONE) {
            return None;
        }
        let answer = timeout(self.longest, asked).await.ok();
        self.hung_at = answer.is_none().then_some(now);
        answer
    }
}

/// What was free on one server's disk, by time.
#[derive(Clone, Debug, Default)]
pub struct Forecast {
    points: VecDeque<(i64, f64)>,
    /// Whether it began with what the history has.
    has_past: bool,
}

impl Forecast {
    /// With what is known of the time before.
    pub async fn of_past(context: &Context, server: ServerId, before: i64) -> Self {
        let mut forecast = Self { has_past: true, ..Self::default() };
        let past = metrics::minutes(context, server, Series::DiskFree, before - REACH, before);
        for (at, free) in past.await {
            forecast.note(at, free.into());
        }
        forecast
    }

    /// Whether the history is still to be asked; until then it goes by what comes.
    pub fn lacks_past(&self) -> bool {
        !self.has_past
    }

    /// Remembers what is free, and says how many hours are left; none while too
    /// little is known.
    pub fn take(&mut self, at: i64, free: f64) -> Option<f64> {
        self.note(at, free);
        if self.points.len() < LEAST {
            return None;
        }
        let filling = -self.slope();
        let hours = if filling > 0.0 { free / filling / 3600.0 } else { FAR };
        Some(hours.min(FAR))
    }

    fn note(&mut self, at: i64, free: f64) {
        let is_due = self.points.back().is_none_or(|(last, _)| at - last >= STEP);
        if is_due {
            self.points.push_back((at, free));
        }
        if self.points.len() > MOST {
            self.points.pop_front();
        }
    }

    /// The time of the last point.
    pub fn last(&self) -> Option<i64> {
        self.points.back().map(|(at, _)| *at)
    }

    /// Bytes a second, of the line that is nearest to all points.
    #[expect(clippy::cast_precision_loss, reason = "hours and a few hundred points")]
    fn slope(&self) -> f64 {
        let Some((first, _)) = self.points.front() else { return 0.0 };
        let points = || self.points.iter().map(|(at, free)| ((at - first) as f64, *free));
        let count = self.points.len() as f64;
        let (times, frees) = points().fold((0.0, 0.0), |sum, it| (sum.0 + it.0, sum.1 + it.1));
        let (time, free) = (times / count, frees / count);
        let together: f64 = points().map(|it| (it.0 - time) * (it.1 - free)).sum();
        let spread: f64 = points().map(|it| (it.0 - time).powi(2)).sum();
        if spread > 0.0 { together / spread } else { 0.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The last forecast of a disk with so many bytes free after each minute.
    fn forecast(minutes: i64, free: impl Fn(f64) -> f64) -> Option<f64> {
        let mut forecast = Forecast::default();
        let mut last = None;
        for minute in 0..minutes {
            #[expect(clippy::cast_precision_loss, reason = "a few minutes")]
            let free = free(minute as f64);
            last = forecast.take(minute * 60, free);
            assert!(forecast.points.len() <= MOST);
        }
        last
    }

    #[tokio::test]
    async fn a_history_that_hangs_is_waited_for_once_a_minute() {
        let mut patience = Patience { longest: Duration::ZERO, hung_at: None };
        let at = SignedDuration::from_secs;
        let hangs = std::future::pending::<u8>;
        assert_eq!(patience.ask(at(0), async { 1 }).await, Some(1));
        assert_eq!(patience.ask(at(10), hangs()).await, None);
        for second in [10, 40, 69] {
            assert_eq!(patience.ask(at(second), async { 1 }).await, None, "at {second}");
        }
        assert_eq!(patience.ask(at(70), hangs()).await, None);
        assert_eq!(patience.ask(at(129), async { 1 }).await, None, "it hung once more");
        assert_eq!(patience.ask(at(130), async { 1 }).await, Some(1));
        assert_eq!(patience.ask(at(131), async { 2 }).await, Some(2), "it answers again");
    }

    #[test]
    fn a_disk_that_fills_evenly_is_full_when_it_is() {
        // 10 GB an hour, 100 GB in the beginning.
        let fills = |minute: f64| 100e9 - minute * 10e9 / 60.0;
        assert_eq!(forecast(14, fills), None, "too little is known");
        let hours = forecast(61, fills).unwrap();
        assert!((hours - 9.0).abs() < 0.01, "{hours}");
        let hours = forecast(541, fills).unwrap();
        assert!((hours - 1.0).abs() < 0.01, "{hours}");
    }

    #[test]
    fn one_that_does_not_fill_is_full_in_ages() {
        assert_eq!(forecast(60, |_| 5e9), Some(FAR));
        assert_eq!(forecast(60, |minute| 5e9 + minute * 1e6), Some(FAR));
        // Segments come and go.
        let hours = forecast(360, |minute| 50e9 - (minute % 30.0) * 1e8).unwrap();
        assert!(hours > 1000.0, "{hours}");
    }
}
