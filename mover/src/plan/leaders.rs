//! Which replica is the first: every broker is the preferred leader of about as many
//! partitions. Nothing is copied for it.
//!
//! Where a broker holds nothing that an overburdened one leads, a third helps: it takes over
//! one partition and hands another on.

use super::band::Band;
use crate::layout::Layout;
use std::collections::VecDeque;

/// How far a broker's number of preferred leaders may be from the mean, in percent.
const PERCENT: u64 = 5;

pub fn even_out(layout: &mut Layout<'_>) {
    let mut leaders = Leaders::new(layout);
    leaders.hand_over_by_topic(layout);
    let mut is_stuck = vec![false; layout.staying];
    while let Some(broker) = leaders.worst(&is_stuck) {
        let Some(path) = leaders.path(layout, broker) else {
            is_stuck[broker] = true;
            continue;
        };
        for hop in path.windows(2) {
            leaders.pass_on(layout, hop[0], hop[1]);
        }
        is_stuck.fill(false);
    }
}

struct Leaders {
    /// Partitions that each broker is the first replica of.
    count: Vec<i64>,
    band: Band,
    /// By topic and broker.
    of_topic: Vec<u32>,
    /// By two brokers: partitions that the one led when they were noted and the other holds.
    shared: Vec<Vec<usize>>,
    brokers: usize,
}

impl Leaders {
    fn new(layout: &Layout<'_>) -> Self {
        let brokers = layout.staying;
        let mut new = Self {
            count: vec![0; brokers],
            band: Band { low: 0, high: 0 },
            of_topic: vec![0; layout.topics() * brokers],
            shared: vec![Vec::new(); brokers * brokers],
            brokers,
        };
        // What could not be placed elsewhere is left alone.
        let is_whole = |at: &usize| layout.replicas[*at].iter().all(|broker| *broker < brokers);
        for at in (0..layout.partitions.len()).rev().filter(is_whole) {
            let Some(first) = layout.replicas[at].first().copied() else { continue };
            new.count[first] += 1;
            new.of_topic[layout.topic(at) * brokers + first] += 1;
            new.note(layout, at);
        }
        let counts: Vec<u64> = new.count.iter().map(|count| count.unsigned_abs()).collect();
        new.band = Band::around_mean(&counts, PERCENT);
        new
    }

    fn note(&mut self, layout: &Layout<'_>, at: usize) {
        let [first, others @ ..] = &layout.replicas[at][..] else { return };
        for other in others {
            self.shared[first * self.brokers + other].push(at);
        }
    }

    fn lead(&mut self, layout: &mut Layout<'_>, at: usize, to: usize) {
        let replicas = &mut layout.replicas[at];
        let Some(position) = replicas.iter().position(|broker| *broker == to) else { return };
        let from = replicas[0];
        // The others keep their order.
        replicas[..=position].rotate_right(1);
        let topic = layout.topic(at) * self.brokers;
        self.count[from] -= 1;
        self.count[to] += 1;
        self.of_topic[topic + from] -= 1;
        self.of_topic[topic + to] += 1;
        self.note(layout, at);
    }

    /// From brokers with too many, and to those with too few, wherever the leaders of the topic
    /// become more even too.
    fn hand_over_by_topic(&mut self, layout: &mut Layout<'_>) {
        for at in 0..layout.partitions.len() {
            let replicas = &layout.replicas[at];
            if replicas.iter().any(|broker| *broker >= self.brokers) || replicas.is_empty() {
                continue;
            }
            let from = replicas[0];
            let topic = layout.topic(at) * self.brokers;
            let is_better = |to: &usize| {
                let is_due = self.count[from] > self.band.high || self.count[*to] < self.band.low;
                is_due
                    && self.band.is_gain(self.count[from], self.count[*to], 1)
                    && self.of_topic[topic + from] > self.of_topic[topic + to]
            };
            let others = replicas[1..].iter().copied().filter(is_better);
            let best = others.min_by_key(|to| (self.of_topic[topic + to], self.count[*to], *to));
            if let Some(to) = best {
                self.lead(layout, at, to);
            }
        }
    }

    /// The broker farthest outside the band that something may still be done for.
    fn worst(&self, is_stuck: &[bool]) -> Option<usize> {
        let off = |broker: usize| {
            let count = self.count[broker];
            (count - self.band.high).max(self.band.low - count)
        };
        let due = (0..self.brokers).filter(|broker| off(*broker) > 0 && !is_stuck[*broker]);
        due.max_by_key(|broker| off(*broker))
    }

    /// The shortest way on which a broker with too many gets rid of one, or a broker with too
    /// few gets one.
    fn path(&mut self, layout: &Layout<'_>, broker: usize) -> Option<Vec<usize>> {
        let gives = self.count[broker] > self.band.high;
        let mut came_from = vec![None; self.brokers];
        let mut queue = VecDeque::from([broker]);
        while let Some(here) = queue.pop_front() {
            for next in 0..self.brokers {
                let (one, other) = if gives { (here, next) } else { (next, here) };
                let is_known = next == broker || came_from[next].is_some();
                if is_known || !self.shares(layout, one, other) {
                    continue;
                }
                came_from[next] = Some(here);
                let (from, to) = if gives { (broker, next) } else { (next, broker) };
                if self.band.is_gain(self.count[from], self.count[to], 1) {
                    let back = |at: &usize| came_from[*at];
                    let mut path: Vec<usize> = std::iter::successors(Some(next), back).collect();
                    if gives {
                        path.reverse();
                    }
                    return Some(path);
                }
                queue.push_back(next);
            }
        }
        None
    }

    /// Whether one leads a partition that the other holds.
    fn shares(&mut self, layout: &Layout<'_>, one: usize, other: usize) -> bool {
        let list = &mut self.shared[one * self.brokers + other];
        while let Some(at) = list.last() {
            if layout.replicas[*at][0] == one {
                return true;
            }
            list.pop();
        }
        false
    }

    fn pass_on(&mut self, layout: &mut Layout<'_>, from: usize, to: usize) {
        if self.shares(layout, from, to) {
            let at = self.shared[from * self.brokers + to].pop();
            let at = at.expect("they share one");
            self.lead(layout, at, to);
        }
    }
}
