//! The same bills, made another way: every moment is asked what the instance
//! was then, months come from counting days, and money is divided with a
//! remainder. Shares no code with the product but the types.

use model::{HistoryChange, HistoryEntry};
use std::collections::{BTreeMap, BTreeSet};

/// A line as plain values: instance, plan, name, tags, from, to, cents.
pub type Line = (i64, String, String, Vec<String>, i64, i64, i64);

const DAY: i64 = 86_400;

fn days_in(year: i64, month: i64) -> i64 {
    let leap = year % 400 == 0 || (year % 4 == 0 && year % 100 != 0);
    match month {
        2 if leap => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// First second of a month and of the next one, counted day by day from 1970.
pub fn bounds(year: i64, month: i64) -> (i64, i64) {
    let mut days = 0;
    for y in 1970..year {
        days += (1..=12).map(|m| days_in(y, m)).sum::<i64>();
    }
    days += (1..month).map(|m| days_in(year, m)).sum::<i64>();
    (days * DAY, (days + days_in(year, month)) * DAY)
}

fn second(entry: &HistoryEntry) -> i64 {
    entry.at.as_microsecond().div_euclid(1_000_000)
}

/// The instance in a second: what the last change up to its end made of it.
fn during(history: &[&HistoryEntry], at: i64) -> Option<HistoryEntry> {
    let last = history.iter().rfind(|entry| second(entry) <= at)?;
    (last.change != HistoryChange::Deleted).then(|| (*last).clone())
}

fn by_instance(entries: &[HistoryEntry]) -> BTreeMap<i64, Vec<&HistoryEntry>> {
    let mut instances: BTreeMap<i64, Vec<&HistoryEntry>> = BTreeMap::new();
    for entry in entries {
        instances.entry(entry.instance_id.0).or_default().push(entry);
    }
    instances
}

/// By asking at every moment at which anything may have changed.
pub fn lines(entries: &[HistoryEntry], (year, month): (i64, i64), until: i64) -> Vec<Line> {
    let (start, end) = bounds(year, month);
    let until = until.min(end);
    let mut made = Vec::new();
    for history in by_instance(entries).values() {
        let mut moments: BTreeSet<i64> = history.iter().map(|entry| second(entry)).collect();
        moments.insert(start);
        let moments: Vec<i64> =
            moments.into_iter().filter(|at| (start..until).contains(at)).collect();
        let pieces = moments.iter().enumerate().map(|(n, from)| {
            (*from, *moments.get(n + 1).unwrap_or(&until), during(history, *from))
        });
        made.extend(join(pieces, end - start));
    }
    made
}

/// By asking in every single second.
pub fn lines_by_seconds(
    entries: &[HistoryEntry],
    (year, month): (i64, i64),
    window: std::ops::Range<i64>,
) -> Vec<Line> {
    let (start, end) = bounds(year, month);
    let mut made = Vec::new();
    for history in by_instance(entries).values() {
        let seconds = window.clone().filter(|at| (start..end).contains(at));
        let pieces = seconds.map(|at| (at, at + 1, during(history, at)));
        made.extend(join(pieces, end - start));
    }
    made
}

fn join(
    pieces: impl Iterator<Item = (i64, i64, Option<HistoryEntry>)>,
    month_seconds: i64,
) -> Vec<Line> {
    let mut joined: Vec<(i64, i64, HistoryEntry)> = Vec::new();
    let mut gap = true;
    for (from, to, state) in pieces {
        let Some(state) = state else {
            gap = true;
            continue;
        };
        match joined.last_mut() {
            Some((_, end, last))
                if !gap && last.plan == state.plan && last.price == state.price =>
            {
                *end = to;
                *last = state;
            }
            _ => joined.push((from, to, state)),
        }
        gap = false;
    }
    joined
        .into_iter()
        .filter_map(|(from, to, state)| line(from, to, &state, month_seconds))
        .collect()
}

fn line(from: i64, to: i64, state: &HistoryEntry, month_seconds: i64) -> Option<Line> {
    let owed = i128::from(state.price.0) * i128::from(to - from);
    let whole = i128::from(month_seconds);
    let (quotient, rest) = (owed / whole, owed % whole);
    let cents = quotient + i128::from(rest * 2 >= whole);
    (cents != 0).then(|| {
        (
            state.instance_id.0,
            state.plan.to_string(),
            state.name.to_string(),
            state.tags.as_slice().to_vec(),
            from,
            to,
            i64::try_from(cents).unwrap(),
        )
    })
}

/// What the product made, as plain values.
pub fn plain(lines: &[model::InvoiceLine]) -> Vec<Line> {
    let plain = |line: &model::InvoiceLine| {
        (
            line.instance_id.0,
            line.plan.clone(),
            line.name.clone(),
            line.tags.clone(),
            line.from.as_second(),
            line.to.as_second(),
            line.amount.0,
        )
    };
    lines.iter().map(plain).collect()
}
