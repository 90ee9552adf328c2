//! How many seconds a group is behind. Pure.
//!
//! Kafka does not say when a message was written without reading it. But the ends
//! of partitions are looked at again and again: a group that would read the message
//! at 100 is as far behind as the time since the end was 100.

use kafka::client::TopicPartition;
use kafka::client::groups::Group;
use std::collections::BTreeMap;

/// Looks that are remembered of each partition. When there are more, the older
/// ones get sparser, so that they reach ever further back.
const MOST: usize = 48;

/// The ends of all partitions that groups read, as they were at several times.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Ends(BTreeMap<TopicPartition, Vec<(i64, i64)>>);

/// How far behind one group is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Lag {
    pub messages: i64,
    /// Of the partition that is the furthest behind.
    pub seconds: i64,
}

impl Ends {
    /// Remembers the ends that groups were told with; partitions that no group
    /// reads any more are forgotten.
    pub fn note(&mut self, groups: &[Group], now: i64) {
        let mut seen = BTreeMap::new();
        for offset in groups.iter().flat_map(|group| &group.offsets) {
            if let Some(end) = offset.end {
                seen.insert(offset.at.clone(), end);
            }
        }
        self.0.retain(|partition, _| seen.contains_key(partition));
        for (partition, end) in seen {
            let looks = self.0.entry(partition).or_default();
            // A topic that was made anew counts from zero.
            if looks.last().is_some_and(|(_, last)| *last > end) {
                looks.clear();
            }
            looks.push((now, end));
            if looks.len() > MOST {
                thin(looks);
            }
        }
    }

    /// None if nothing can be told of one of its partitions.
    pub fn lag(&self, group: &Group, now: i64) -> Option<Lag> {
        let messages = group.lag()?;
        let behind = group.offsets.iter().map(|offset| {
            let at = offset.offset?;
            if offset.lag()? == 0 {
                return Some(0);
            }
            let looks = self.0.get(&offset.at)?;
            Some(now - written_at(looks, at)?)
        });
        let seconds = behind.collect::<Option<Vec<_>>>()?.into_iter().max().unwrap_or(0).max(0);
        Some(Lag { messages, seconds })
    }
}

/// Every other of the older half.
fn thin(looks: &mut Vec<(i64, i64)>) {
    let half = looks.len() / 2;
    let mut place = 0;
    looks.retain(|_| {
        place += 1;
        place > half || place % 2 == 1
    });
}

/// About when the message at an offset was written: between the last look that had
/// its end there or before, and the next. Longer ago than the first look, it is at
/// least as old as that.
fn written_at(looks: &[(i64, i64)], offset: i64) -> Option<i64> {
    let after = looks.partition_point(|(_, end)| *end <= offset);
    let (then, end) = *looks.get(after)?;
    let Some((before, first)) = after.checked_sub(1).map(|at| looks[at]) else {
        return Some(then);
    };
    // Messages are taken to come evenly between two looks.
    Some(before + (then - before) * (offset - first) / (end - first).max(1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use kafka::client::groups::{GroupOffset, GroupView};

    fn group(offsets: &[(i32, Option<i64>, Option<i64>)]) -> Group {
        let offset = |(partition, offset, end): &(i32, Option<i64>, Option<i64>)| GroupOffset {
            at: TopicPartition::new("orders", *partition),
            offset: *offset,
            end: *end,
        };
        let view = GroupView {
            name: "billing".into(),
            state: "Stable".into(),
            protocol_type: "consumer".into(),
            members: vec![],
        };
        Group { view, offsets: offsets.iter().map(offset).collect() }
    }

    /// Looks half a minute apart, at a partition that grows by 300 in each.
    fn ends(looks: i64) -> Ends {
        let mut ends = Ends::default();
        for look in 0..looks {
            ends.note(&[group(&[(0, Some(0), Some(look * 300))])], look * 30);
        }
        ends
    }

    #[test]
    fn a_group_is_as_far_behind_as_its_message_is_old() {
        let ends = ends(11);
        let check = |offset: i64, messages: i64, seconds: i64| {
            let lag = ends.lag(&group(&[(0, Some(offset), Some(3000))]), 300);
            assert_eq!(lag, Some(Lag { messages, seconds }), "at {offset}");
        };
        check(3000, 0, 0);
        check(2990, 10, 1);
        check(2700, 300, 30);
        check(1500, 1500, 150);
        check(0, 3000, 300);
    }

    #[test]
    fn what_can_t_be_known_is_not_made_up() {
        let ends = ends(3);
        let check = |offsets: &[(i32, Option<i64>, Option<i64>)], expected: Option<i64>| {
            let lag = ends.lag(&group(offsets), 60).map(|lag| lag.seconds);
            assert_eq!(lag, expected, "{offsets:?}");
        };
        check(&[(0, None, Some(600))], None);
        check(&[(0, Some(5), None)], None);
        check(&[(1, Some(5), Some(9))], None);
        check(&[(1, Some(9), Some(9))], Some(0));
        check(&[], Some(0));
        // The furthest behind counts.
        check(&[(0, Some(300), Some(600)), (1, Some(9), Some(9))], Some(30));
    }

    #[test]
    fn a_long_history_gets_sparser_and_a_new_topic_begins_anew() {
        let long = ends(1000);
        let looks = &long.0[&TopicPartition::new("orders", 0)];
        assert!(looks.len() <= MOST, "{}", looks.len());
        assert_eq!(looks[0], (0, 0), "the first is kept");
        let lag = long.lag(&group(&[(0, Some(999 * 300 - 600), Some(999 * 300))]), 999 * 30);
        assert_eq!(lag, Some(Lag { messages: 600, seconds: 60 }));
        let mut anew = ends(5);
        anew.note(&[group(&[(0, Some(0), Some(7))])], 150);
        assert_eq!(anew.0[&TopicPartition::new("orders", 0)], [(150, 7)]);
        anew.note(&[], 180);
        assert_eq!(anew, Ends::default(), "nobody reads it");
    }
}
