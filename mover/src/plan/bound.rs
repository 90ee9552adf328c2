//! The fewest bytes that any plan has to copy, so that a plan can be compared with it.
//!
//! A broker that has to give bytes away causes copies of that many, and so does one that has to
//! get them. What must be placed anyway fills those that have to get some at no extra cost.

use super::spread::Values;
use crate::layout::Layout;

/// What stays where it is if only that is moved which has to be. Of partitions that lose
/// replicas any may be dropped, so they count for neither side.
pub struct Retained {
    /// What each broker holds at least.
    least: Vec<u64>,
    /// What each broker holds at most.
    most: Vec<u64>,
    /// Of each partition: replicas that can stay.
    replicas: Vec<Vec<usize>>,
}

impl Retained {
    /// Of a layout from which surplus replicas were dropped, and nothing else was changed.
    pub fn new(layout: &Layout<'_>) -> Self {
        let (mut least, mut most) = (vec![0; layout.staying], vec![0; layout.staying]);
        let mut replicas = Vec::with_capacity(layout.before.len());
        for (at, before) in layout.before.iter().enumerate() {
            let staying = before.iter().copied().filter(|broker| *broker < layout.staying);
            let staying: Vec<usize> = staying.collect();
            let is_lowered = layout.replicas[at].len() < before.len();
            for broker in &staying {
                least[*broker] += if is_lowered { 0 } else { layout.bytes(at) };
                most[*broker] += layout.bytes(at);
            }
            replicas.push(staying);
        }
        Self { least, most, replicas }
    }

    /// Bytes without which this layout, or one as even, can't be reached.
    pub fn lower_bound(&self, layout: &Layout<'_>, spread: bool) -> u64 {
        let must = self.sum(layout, |_, added, _| added);
        if !spread {
            return must;
        }
        let values = Values::of_bytes(layout);
        let (band, value) = (values.band, |broker, load| values.value(broker, load));
        let brokers = || 0..layout.staying;
        // Where the band could not be reached, what was reached counts.
        let has = |broker: usize| value(broker, layout.load[broker]);
        let give = |it: usize| value(it, self.least[it]) - band.high.max(has(it));
        let give: u64 = brokers().map(|it| give(it).max(0).unsigned_abs()).sum();
        let get = |it: usize| band.low.min(has(it)) - value(it, self.most[it]);
        let get: u64 = brokers().map(|it| get(it).max(0).unsigned_abs()).sum();
        // Replicas that could only stay if their racks were not kept apart.
        let parted = self.sum(layout, |kept, added, after| {
            layout.racks_of(after).saturating_sub(layout.racks_of(kept) + added)
        });
        get.max(must + give.max(parted))
    }

    /// Bytes of as many replicas as this is of each partition: of those that can stay, how many
    /// are added to them, and all.
    fn sum(&self, layout: &Layout<'_>, number: impl Fn(&[usize], usize, &[usize]) -> usize) -> u64 {
        let bytes = |(at, kept): (usize, &Vec<usize>)| {
            let after = &layout.replicas[at];
            let placed = after.iter().filter(|broker| **broker < layout.staying).count();
            let added = placed.saturating_sub(kept.len());
            layout.bytes(at) * number(kept, added, after) as u64
        };
        self.replicas.iter().enumerate().map(bytes).sum()
    }
}
