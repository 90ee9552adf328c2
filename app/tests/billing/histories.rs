//! Random histories that keep near the edges: ends of months and years, leap
//! days, other people's midnights, several changes in one second.

use model::{
    AccountId, Cents, HistoryChange, HistoryEntry, InstanceId, InstanceName, PlanName, Tags,
    Timestamp,
};
use proptest::prelude::*;

/// Plans and prices. One plan has two: the operator changed the catalogue.
const PLANS: [(&str, i64); 7] = [
    ("ducky", 0),
    ("mouse-1", 9900),
    ("mouse-1", 9901),
    ("bat-3", 52_500),
    ("penguin-7", 1_050_000),
    ("odd-1", 1),
    ("odd-3", 333),
];

/// So dear that no second of them costs nothing.
const DEAR: [(&str, i64); 2] = [("gold-1", 10_000_000), ("gold-3", 30_000_001)];

const EDGES: [&str; 12] = [
    "2023-12-31T23:59:58Z",
    "2024-02-28T23:59:58Z",
    "2024-02-29T23:59:58.999999Z",
    "2025-02-28T23:59:59Z",
    "2026-11-30T23:59:59.5Z",
    "2026-12-31T23:00:00Z",
    // Midnights of Auckland, Kathmandu, Honolulu and Lord Howe, and a change
    // to summer time in Berlin.
    "2026-11-01T00:00:00+13:00",
    "2026-11-01T00:00:00+05:45",
    "2026-10-31T23:59:59-10:00",
    "2026-04-05T02:00:00+10:30",
    "2026-03-29T02:00:00+01:00",
    "2100-02-28T23:59:50Z",
];

pub fn timestamp(micros: i64) -> Timestamp {
    Timestamp::from_microsecond(micros).unwrap()
}

fn beginning() -> impl Strategy<Value = i64> {
    let edge = prop::sample::select(EDGES.to_vec())
        .prop_map(|text| text.parse::<Timestamp>().unwrap().as_microsecond());
    // Any moment of 2024 to 2027.
    let any = 1_704_067_200_000_000_i64..1_830_297_600_000_000;
    prop_oneof![edge, any]
}

/// Microseconds until the next change.
fn pause() -> impl Strategy<Value = i64> {
    prop_oneof![
        Just(0),
        1..1_000_000_i64,
        Just(1_000_000),
        1_000_000..300_000_000_i64,
        0..86_400_000_000_i64,
        0..4_000_000_000_000_i64,
        // To the very beginning of the next day.
        Just(-1),
    ]
}

fn after(at: i64, pause: i64) -> i64 {
    const DAY: i64 = 86_400_000_000;
    if pause < 0 { (at.div_euclid(DAY) + 1) * DAY } else { at + pause }
}

/// What a step changes: plan, name, tags.
type Step = (i64, usize, Option<u8>, Option<u8>);

fn step(plans: usize, pause: impl Strategy<Value = i64>) -> impl Strategy<Value = Step> {
    let label = || prop::option::of(0..4_u8);
    (pause, 0..plans, label(), label())
}

fn history(
    plans: &'static [(&'static str, i64)],
    begin: i64,
    steps: Vec<Step>,
    gone: Option<i64>,
) -> Vec<HistoryEntry> {
    let mut entries: Vec<HistoryEntry> = Vec::new();
    let mut at = begin;
    for (n, (pause, plan, name, tag)) in steps.into_iter().enumerate() {
        if n > 0 {
            at = after(at, pause);
        }
        let last = entries.last().cloned();
        // Half of the steps keep the plan.
        let (plan, price) = match &last {
            Some(last) if plan % 2 == 0 => (last.plan.0.clone(), last.price.0),
            _ => (plans[plan].0.to_owned(), plans[plan].1),
        };
        let kept = last.as_ref().map(|last| last.name.to_string());
        let name = name.map(|n| format!("name-{n}")).or(kept).unwrap_or("first".into());
        let kept = last.as_ref().map(|last| last.tags.clone());
        let tags = tag.map(|n| Tags::parse(vec![format!("tag-{n}")]).unwrap()).or(kept);
        entries.push(HistoryEntry {
            instance_id: InstanceId(0),
            account_id: AccountId(uuid::Uuid::nil()),
            at: timestamp(at),
            change: if n == 0 { HistoryChange::Created } else { HistoryChange::Changed },
            name: InstanceName::parse(name).unwrap(),
            plan: PlanName(plan),
            price: Cents(price),
            tags: tags.unwrap_or_default(),
        });
    }
    if let Some(pause) = gone {
        let last = entries.last().unwrap().clone();
        let at = timestamp(after(at, pause));
        entries.push(HistoryEntry { at, change: HistoryChange::Deleted, ..last });
    }
    entries
}

/// An account's instances, numbered from 1, by instance. They begin not far
/// from each other, so that there are few months to look at.
pub fn account() -> impl Strategy<Value = Vec<HistoryEntry>> {
    let steps = prop::collection::vec(step(PLANS.len(), pause()), 1..9);
    let one = (pause(), steps, prop::option::of(pause()));
    (beginning(), prop::collection::vec(one, 1..4)).prop_map(|(begin, instances)| {
        let history = |(later, steps, gone)| history(&PLANS, after(begin, later), steps, gone);
        numbered(instances.into_iter().map(history).collect())
    })
}

/// Instances that were deleted, and of which every second costs something.
pub fn dear() -> impl Strategy<Value = Vec<HistoryEntry>> {
    let steps = prop::collection::vec(step(DEAR.len(), pause()), 1..9);
    (beginning(), prop::collection::vec((pause(), steps, pause()), 1..4)).prop_map(
        |(begin, instances)| {
            let history =
                |(later, steps, gone)| history(&DEAR, after(begin, later), steps, Some(gone));
            numbered(instances.into_iter().map(history).collect())
        },
    )
}

/// Changes close together, within some hours from an edge on.
pub fn hasty() -> impl Strategy<Value = Vec<HistoryEntry>> {
    let pause = || prop_oneof![0..2_000_000_i64, 0..600_000_000_i64, Just(0)];
    let edge = prop::sample::select(EDGES.to_vec())
        .prop_map(|text| text.parse::<Timestamp>().unwrap().as_microsecond());
    let steps = prop::collection::vec(step(DEAR.len(), pause()), 1..7);
    let one = (edge, steps, pause())
        .prop_map(|(begin, steps, gone)| history(&DEAR, begin, steps, Some(gone)));
    one.prop_map(|history| numbered(vec![history]))
}

fn numbered(histories: Vec<Vec<HistoryEntry>>) -> Vec<HistoryEntry> {
    let numbered = (1..).zip(histories);
    numbered
        .flat_map(|(n, history)| {
            history
                .into_iter()
                .map(move |entry| HistoryEntry { instance_id: InstanceId(n), ..entry })
        })
        .collect()
}
