//! Thousands of random histories, billed twice.

use crate::histories::{account, dear, hasty, timestamp};
use crate::recompute::{self, Line, plain};
use app::billing::lines;
use model::{HistoryEntry, Month, Timestamp};
use proptest::prelude::*;
use std::collections::BTreeMap;

/// Year and month of every month that a history touches, and one more.
fn months(entries: &[HistoryEntry]) -> Vec<(i64, i64)> {
    let first = entries.iter().map(|entry| entry.at).min().unwrap();
    let last = entries.iter().map(|entry| entry.at).max().unwrap();
    let mut month = Month::containing(first);
    let mut months = Vec::new();
    while month <= Month::containing(last).next() {
        let text = month.to_string();
        months.push((text[..4].parse().unwrap(), text[5..].parse().unwrap()));
        month = month.next();
    }
    months
}

fn bill(entries: &[HistoryEntry], (year, number): (i64, i64), until: Timestamp) -> Vec<Line> {
    plain(&lines(entries, Month::new(year, number).unwrap(), until))
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 4000, failure_persistence: None, ..ProptestConfig::default()
    })]

    #[test]
    fn every_bill_equals_the_recomputation(entries in account()) {
        for month in months(&entries) {
            let expected = recompute::lines(&entries, month, i64::MAX);
            prop_assert_eq!(bill(&entries, month, Timestamp::MAX), expected);
        }
    }

    #[test]
    fn a_running_month_is_billed_up_to_now(entries in account(), into in 0..3_000_000_000_000_i64) {
        let first = entries.iter().map(|entry| entry.at).min().unwrap();
        let now = timestamp(first.as_microsecond() + into);
        // Nothing is known of what comes later.
        let known: Vec<_> = entries.into_iter().filter(|entry| entry.at <= now).collect();
        for month in months(&known) {
            let second = now.as_microsecond().div_euclid(1_000_000);
            let expected = recompute::lines(&known, month, second);
            prop_assert_eq!(bill(&known, month, now), expected);
        }
    }

    #[test]
    fn every_second_of_a_life_is_on_one_line(entries in dear()) {
        let mut billed: BTreeMap<i64, i64> = BTreeMap::new();
        let mut ends: BTreeMap<i64, i64> = BTreeMap::new();
        for month in months(&entries) {
            for (instance, _, _, _, from, to, _) in bill(&entries, month, Timestamp::MAX) {
                *billed.entry(instance).or_default() += to - from;
                // Lines of one instance follow each other without a gap.
                if let Some(end) = ends.insert(instance, to) {
                    prop_assert_eq!(end, from);
                }
            }
        }
        for history in entries.chunk_by(|a, b| a.instance_id == b.instance_id) {
            let second = |entry: &HistoryEntry| entry.at.as_microsecond().div_euclid(1_000_000);
            let life = second(history.last().unwrap()) - second(&history[0]);
            prop_assert_eq!(billed.get(&history[0].instance_id.0).copied().unwrap_or(0), life);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 2000, failure_persistence: None, ..ProptestConfig::default()
    })]

    #[test]
    fn counting_single_seconds_gives_the_same(entries in hasty()) {
        let first = entries.iter().map(|entry| entry.at.as_second()).min().unwrap();
        let last = entries.iter().map(|entry| entry.at.as_second()).max().unwrap();
        for month in months(&entries) {
            let expected = recompute::lines_by_seconds(&entries, month, first - 5..last + 5);
            prop_assert_eq!(bill(&entries, month, Timestamp::MAX), expected);
        }
    }
}
