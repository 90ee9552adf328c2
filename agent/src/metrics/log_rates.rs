//! What is sent of the server's logs, as rates. Nothing where nothing is sent.

use super::number;
use crate::logs::Counts;
use model::Series;
use std::time::Duration;

/// The last look.
#[derive(Default)]
pub struct LogRates(Option<Counts>);

impl LogRates {
    /// The first look has nothing to compare with.
    pub fn look(&mut self, counts: Option<Counts>, passed: Duration) -> Vec<(Series, f64)> {
        let before = std::mem::replace(&mut self.0, counts);
        let Some(counts) = counts else { return Vec::new() };
        let mut found = vec![(Series::LogDestinationsFailing, number(counts.failing as u64))];
        if let Some(before) = before.filter(|_| !passed.is_zero()) {
            let rate = |now: u64, then: u64| number(now - then) / passed.as_secs_f64();
            found.push((Series::LogEventsSent, rate(counts.sent, before.sent)));
            found.push((Series::LogEventsDropped, rate(counts.dropped, before.dropped)));
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_where_something_is_sent() {
        let mut rates = LogRates::default();
        let passed = Duration::from_secs(10);
        assert_eq!(rates.look(None, passed), []);
        let counts = |sent, dropped, failing| Some(Counts { sent, dropped, failing });
        let failing = Series::LogDestinationsFailing;
        assert_eq!(rates.look(counts(100, 0, 1), passed), [(failing, 1.0)]);
        let (sent, dropped) = (Series::LogEventsSent, Series::LogEventsDropped);
        let expected = [(failing, 0.0), (sent, 5.0), (dropped, 0.5)];
        assert_eq!(rates.look(counts(150, 5, 0), passed), expected);
        assert_eq!(rates.look(counts(160, 5, 0), Duration::ZERO), [(failing, 0.0)]);
        assert_eq!(rates.look(None, passed), []);
        assert_eq!(rates.look(counts(160, 5, 0), passed), [(failing, 0.0)]);
    }
}
