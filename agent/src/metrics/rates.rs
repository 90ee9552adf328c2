//! What counters grow by, from two scrapes of the same JVM. Pure.
//!
//! A JVM that was started anew counts from zero: there is no rate then, and never
//! one below zero.

use super::broker::{Scrape, TopicCounts};
use super::narrow;
use model::Series;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;
use wire::metrics::TopicSample;

/// Topics that are told by name.
pub const MOST_TOPICS: usize = 200;

/// What the counters were at an earlier time.
#[derive(Clone, Debug, Default)]
pub struct Before {
    started: Option<f64>,
    counters: BTreeMap<Series, f64>,
}

impl Before {
    pub fn from_scrape(scrape: &Scrape) -> Self {
        Self { started: scrape.started, counters: scrape.counters.clone() }
    }

    /// Everything that can be told a second, in the unit of its series.
    pub fn rates(&self, now: &Scrape, passed: Duration) -> Vec<(Series, f64)> {
        if self.started != now.started || passed.is_zero() {
            return Vec::new();
        }
        let rate = |(series, value): (&Series, &f64)| {
            let grown = value - self.counters.get(series)?;
            (grown >= 0.0).then(|| (*series, in_unit(*series, grown / passed.as_secs_f64())))
        };
        now.counters.iter().filter_map(rate).collect()
    }
}

fn in_unit(series: Series, rate: f64) -> f64 {
    match series {
        // Nanoseconds in a second. Where brokers and controllers share a process,
        // older releases count both.
        Series::RequestIdle => (rate / 1e7).min(100.0),
        // Seconds in a second.
        Series::GcTime => (rate * 100.0).min(100.0),
        _ => rate,
    }
}

/// The same for topics.
#[derive(Clone, Debug, Default)]
pub struct TopicsBefore {
    started: Option<f64>,
    counts: BTreeMap<Arc<str>, TopicCounts>,
}

impl TopicsBefore {
    pub fn from_scrape(scrape: &Scrape) -> Self {
        Self { started: scrape.started, counts: scrape.topics.clone() }
    }

    /// The busiest topics, and how many more there are.
    pub fn busiest(&self, now: &Scrape, passed: Duration) -> (Vec<(Arc<str>, TopicSample)>, usize) {
        let is_same = self.started == now.started && !passed.is_zero();
        let sample = |(name, now): (&Arc<str>, &TopicCounts)| {
            // A topic that was not there has counted from zero.
            let before = self.counts.get(name).copied().unwrap_or_default();
            let rate = |now: f64, before: f64| {
                let grown = if is_same { (now - before).max(0.0) } else { 0.0 };
                narrow(grown / passed.as_secs_f64().max(1.0))
            };
            let topic = TopicSample {
                bytes_in: rate(now.bytes_in, before.bytes_in),
                bytes_out: rate(now.bytes_out, before.bytes_out),
                messages_in: rate(now.messages_in, before.messages_in),
                size: narrow(now.size),
            };
            (Arc::clone(name), topic)
        };
        let mut topics: Vec<_> = now.topics.iter().map(sample).collect();
        let left_out = topics.len().saturating_sub(MOST_TOPICS);
        if left_out > 0 {
            topics.sort_by(|(_, one), (_, other)| {
                let busy = |topic: &TopicSample| topic.bytes_in + topic.bytes_out;
                busy(other).total_cmp(&busy(one)).then(other.size.total_cmp(&one.size))
            });
            topics.truncate(MOST_TOPICS);
        }
        (topics, left_out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECONDS: Duration = Duration::from_secs(10);

    fn scrape(started: f64, counters: &[(Series, f64)]) -> Scrape {
        let counters = counters.iter().copied().collect();
        Scrape { started: Some(started), counters, ..<_>::default() }
    }

    #[test]
    fn rates_are_in_their_units_and_never_below_zero() {
        use Series as S;
        let before = Before::from_scrape(&scrape(
            1.0,
            &[(S::BytesIn, 100.0), (S::GcTime, 1.0), (S::RequestIdle, 0.0), (S::IsrShrinks, 5.0)],
        ));
        let now = [
            (S::BytesIn, 350.0),
            (S::GcTime, 1.5),
            (S::RequestIdle, 9.0e9),
            (S::IsrShrinks, 4.0),
            (S::BytesOut, 7.0),
        ];
        let rates = before.rates(&scrape(1.0, &now), SECONDS);
        assert_eq!(rates, [(S::BytesIn, 25.0), (S::RequestIdle, 90.0), (S::GcTime, 5.0)]);
        assert_eq!(before.rates(&scrape(2.0, &now), SECONDS), [], "another JVM");
        assert_eq!(before.rates(&scrape(1.0, &now), Duration::ZERO), []);
        let both = before.rates(&scrape(1.0, &[(S::RequestIdle, 19.0e9)]), SECONDS);
        assert_eq!(both, [(S::RequestIdle, 100.0)]);
    }

    #[test]
    fn the_busiest_topics_are_named_and_the_rest_counted() {
        let topics = |count: f64| {
            let topic = |at: u32| {
                let counts = TopicCounts { bytes_in: f64::from(at) * count, ..<_>::default() };
                (Arc::from(format!("topic-{at:03}")), counts)
            };
            Scrape { topics: (0..203).map(topic).collect(), ..<_>::default() }
        };
        let before = TopicsBefore::from_scrape(&topics(1.0));
        let (busiest, left_out) = before.busiest(&topics(11.0), SECONDS);
        assert_eq!((busiest.len(), left_out), (MOST_TOPICS, 3));
        assert_eq!(&*busiest[0].0, "topic-202");
        assert!((busiest[0].1.bytes_in - 202.0).abs() < 1e-3, "{:?}", busiest[0]);
        assert!(!busiest.iter().any(|(name, _)| &**name == "topic-002"));
        let restarted = Scrape { started: Some(9.0), ..topics(11.0) };
        let (idle, _) = before.busiest(&restarted, SECONDS);
        assert!(idle.iter().all(|(_, topic)| topic.bytes_in.to_bits() == 0));
    }
}
