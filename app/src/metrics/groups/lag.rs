//! How many seconds a group is behind. Pure.
//!
//! Kafka does not say when a message was written without reading it. But the ends
//! of partitions are looked at again and again: a group that would read the message
//! at 100 is as far behind as the time since the end was 100. Of what was written
//! before the first look only a least age is known.

use kafka::client::TopicPartition;
use kafka::client::groups::{Group, GroupOffset};
use std::collections::BTreeMap;

/// Looks that are remembered of each partition. When there are more, the older
/// ones get sparser, so that they reach ever further back.
const MOST: usize = 48;
/// A partition that nobody told of for so many seconds is forgotten. A broker that
/// is away for a while tells of none of its groups.
const FORGOTTEN: i64 = 3600;

/// The ends of all partitions that groups read, as they were at several times.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Ends(BTreeMap<TopicPartition, Vec<(i64, i64)>>);

/// How far behind one group is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Lag {
    pub messages: i64,
    /// Of the partition that is the furthest behind.
    pub seconds: i64,
    /// It may be further behind: a message is older than the first look, or nobody
    /// tells where one of its partitions ends.
    pub at_least: bool,
}

impl Ends {
    /// Remembers the ends that groups were told with.
    pub fn note(&mut self, groups: &[Group], now: i64) {
        let mut seen = BTreeMap::new();
        for offset in groups.iter().flat_map(|group| &group.offsets) {
            if let Some(end) = offset.end {
                seen.insert(offset.at.clone(), end);
            }
        }
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
        self.0.retain(|_, looks| looks.last().is_some_and(|(at, _)| now - at <= FORGOTTEN));
    }

    /// Over the partitions that it has committed anything of; none if nothing can be
    /// told of any.
    pub fn lag(&self, group: &Group, now: i64) -> Option<Lag> {
        let mut lag = Lag { messages: 0, seconds: 0, at_least: false };
        let mut is_known = group.offsets.is_empty();
        for offset in group.offsets.iter().filter(|offset| offset.offset.is_some()) {
            let Some(of_one) = self.lag_of(offset, now) else {
                lag.at_least = true;
                continue;
            };
            is_known = true;
            lag.messages = lag.messages.saturating_add(of_one.messages);
            lag.seconds = lag.seconds.max(of_one.seconds);
            lag.at_least |= of_one.at_least;
        }
        is_known.then_some(lag)
    }

    fn lag_of(&self, offset: &GroupOffset, now: i64) -> Option<Lag> {
        let messages = offset.lag()?;
        if messages == 0 {
            return Some(Lag { messages, seconds: 0, at_least: false });
        }
        let written = written_at(self.0.get(&offset.at)?, offset.offset?)?;
        let seconds = (now - written.at).max(0);
        Some(Lag { messages, seconds, at_least: written.or_before })
    }
}

/// When a message was written.
struct Written {
    at: i64,
    or_before: bool,
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
/// its end there or before, and the next.
fn written_at(looks: &[(i64, i64)], offset: i64) -> Option<Written> {
    let after = looks.partition_point(|(_, end)| *end <= offset);
    let (then, end) = *looks.get(after)?;
    let Some((before, first)) = after.checked_sub(1).map(|at| looks[at]) else {
        return Some(Written { at: then, or_before: true });
    };
    // Messages are taken to come evenly between two looks.
    let at = before + (then - before) * (offset - first) / (end - first).max(1);
    Some(Written { at, or_before: false })
}

#[cfg(test)]
mod tests {
    use super::*;
    use kafka::client::groups::GroupView;

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
            assert_eq!(lag, Some(Lag { messages, seconds, at_least: false }), "at {offset}");
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
        // What it has not begun to read does not hide the rest.
        check(&[(0, Some(300), Some(600)), (1, None, Some(9))], Some(30));
    }

    #[test]
    fn what_is_older_than_the_first_look_may_be_much_older() {
        let mut ends = Ends::default();
        let slow = |end: i64| group(&[(0, Some(5), Some(end))]);
        ends.note(&[slow(600)], 1000);
        let lag = |ends: &Ends, end, now| {
            ends.lag(&slow(end), now).map(|lag| (lag.seconds, lag.at_least))
        };
        assert_eq!(lag(&ends, 600, 1000), Some((0, true)));
        ends.note(&[slow(900)], 1030);
        assert_eq!(lag(&ends, 900, 1030), Some((30, true)));
        let caught_up = group(&[(0, Some(900), Some(900))]);
        assert_eq!(ends.lag(&caught_up, 1030).map(|lag| lag.at_least), Some(false));
        let partly = group(&[(0, Some(900), Some(900)), (1, Some(5), None)]);
        assert_eq!(ends.lag(&partly, 1030).map(|lag| lag.at_least), Some(true));
    }

    #[test]
    fn a_long_history_gets_sparser_and_a_new_topic_begins_anew() {
        let long = ends(1000);
        let looks = &long.0[&TopicPartition::new("orders", 0)];
        assert!(looks.len() <= MOST, "{}", looks.len());
        assert_eq!(looks[0], (0, 0), "the first is kept");
        let lag = long.lag(&group(&[(0, Some(999 * 300 - 600), Some(999 * 300))]), 999 * 30);
        assert_eq!(lag, Some(Lag { messages: 600, seconds: 60, at_least: false }));
        let mut anew = ends(5);
        anew.note(&[group(&[(0, Some(0), Some(7))])], 150);
        assert_eq!(anew.0[&TopicPartition::new("orders", 0)], [(150, 7)]);
        anew.note(&[], 180);
        assert_eq!(anew.0.len(), 1, "a broker is away");
        anew.note(&[], 151 + FORGOTTEN);
        assert_eq!(anew, Ends::default(), "nobody reads it");
    }
}
