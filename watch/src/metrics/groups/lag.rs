//! How many seconds a group is behind. Pure.
//!
//! Kafka does not say when a message was written without reading it. But the ends
//! of partitions are looked at again and again: a group that would read the message
//! at 100 is at least as far behind as the time since the first look that saw the end
//! beyond 100. The message may be older by the time between two looks; that is left
//! out, so that no alarm fires for a lag that is not there. Of what was written before
//! the first look, or while nobody looked for long, only a least age is known.

use kafka::client::TopicPartition;
use kafka::client::groups::{Group, GroupOffset};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Looks that are remembered of each partition. When there are more, the older
/// ones get sparser, so that they reach ever further back.
const MOST: usize = 48;
/// A partition that no answer named for so many seconds is forgotten. A broker that
/// is away for a while names none of its groups.
const FORGOTTEN: i64 = 3600;
/// Looks are half a minute apart, and one of them may fail. What came within more
/// seconds than these may be much older than the look that saw it first.
const BLIND: i64 = 90;

/// The ends of all partitions that groups read, as they were at several times.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Ends(BTreeMap<TopicPartition, Vec<Look>>);

/// Where a partition ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Look {
    /// The first time at which the end was seen beyond that of the look before: `at`,
    /// unless looks in between were dropped.
    since: i64,
    at: i64,
    end: i64,
    /// Nobody knows when it got there from the end before: nobody looked for long.
    blind: bool,
}

/// How far behind one group is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Lag {
    pub messages: i64,
    /// Of the partition that is the furthest behind.
    pub seconds: i64,
    /// It may be further behind: a message is older than the first look or came while
    /// nobody looked, or the end of one of its partitions is unknown.
    pub at_least: bool,
}

/// How far behind the groups of a cluster are, all of them.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Lags {
    pub groups: Vec<(Arc<str>, Lag)>,
    /// Those with an open incident, and that are deleted.
    pub gone: Vec<String>,
}

impl Ends {
    /// Remembers where partitions end. `now` is in seconds, of a clock that never goes back.
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
            if looks.last().is_some_and(|last| last.end > end) {
                looks.clear();
            }
            let is_blind = |last: &Look| end > last.end && now - last.at > BLIND;
            let blind = looks.last().is_some_and(is_blind);
            looks.push(Look { since: now, at: now, end, blind });
            if looks.len() > MOST {
                thin(looks);
            }
        }
        self.0.retain(|_, looks| looks.last().is_some_and(|last| now - last.at <= FORGOTTEN));
    }

    /// Over the partitions that it has committed anything of; none if nothing is
    /// known of any.
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

/// Every other of the older half. What is kept takes over since when the end was beyond
/// the one before it, so that nobody gets younger by it, and that nobody looked for long.
fn thin(looks: &mut Vec<Look>) {
    let half = looks.len() / 2;
    let mut kept: Vec<Look> = Vec::with_capacity(looks.len());
    let mut dropped: Option<Look> = None;
    for (place, look) in looks.drain(..).enumerate() {
        if place < half && place % 2 == 1 {
            dropped = Some(look);
            continue;
        }
        let is_beyond = |it: &Look| kept.last().is_some_and(|before| it.end > before.end);
        let dropped = dropped.take().filter(is_beyond);
        let since = dropped.map_or(look.since, |it| it.since);
        let blind = look.blind || dropped.is_some_and(|it| it.blind);
        kept.push(Look { since, blind, ..look });
    }
    *looks = kept;
}

/// When the message at an offset was there at the latest: at the first look that had
/// its end beyond it.
fn written_at(looks: &[Look], offset: i64) -> Option<Written> {
    let after = looks.partition_point(|look| look.end <= offset);
    let Look { since, at, end, blind } = *looks.get(after)?;
    let Some(before) = after.checked_sub(1).map(|place| looks[place]) else {
        return Some(Written { at, or_before: true });
    };
    // Where looks were dropped in between, messages are taken to have come evenly.
    let at = since + (at - since) * (offset - before.end) / (end - before.end).max(1);
    Some(Written { at, or_before: blind })
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
        check(2990, 10, 0);
        check(2700, 300, 0);
        check(2699, 301, 30);
        check(1500, 1500, 120);
        check(0, 3000, 270);
    }

    #[test]
    fn a_message_that_just_came_makes_nobody_late() {
        let mut ends = Ends::default();
        let at_100 = |end: i64| group(&[(0, Some(100), Some(end))]);
        let mut look = |end: i64, now: i64| {
            ends.note(&[at_100(end)], now);
            ends.lag(&at_100(end), now).map(|lag| (lag.seconds, lag.at_least))
        };
        for now in [0, 30, 60] {
            assert_eq!(look(100, now), Some((0, false)));
        }
        assert_eq!(look(101, 90), Some((0, false)), "it may be a second old");
        assert_eq!(look(101, 120), Some((30, false)));
    }

    #[test]
    fn what_came_while_nobody_looked_may_be_older_than_the_next_look() {
        let mut ends = Ends::default();
        let look = |ends: &mut Ends, offset: i64, end: i64, now: i64| {
            let group = group(&[(0, Some(offset), Some(end))]);
            ends.note(std::slice::from_ref(&group), now);
            ends.lag(&group, now).map(|lag| (lag.seconds, lag.at_least))
        };
        assert_eq!(look(&mut ends, 100, 100, 0), Some((0, false)));
        assert_eq!(look(&mut ends, 100, 10_000, 600), Some((0, true)), "up to ten minutes");
        assert_eq!(look(&mut ends, 5000, 10_000, 630), Some((30, true)), "it came in the gap, too");
        assert_eq!(look(&mut ends, 10_000, 10_300, 660), Some((0, false)), "this one did not");
        // Nothing came within this gap, so it hides nothing.
        assert_eq!(look(&mut ends, 10_300, 10_300, 1000), Some((0, false)));
        assert_eq!(look(&mut ends, 10_300, 10_400, 1030), Some((0, false)));
        assert_eq!(look(&mut ends, 10_400, 10_500, 1090), Some((0, false)), "one look failed");
        // A history that gets sparser does not forget where nobody looked.
        for more in 0..200 {
            look(&mut ends, 0, 10_500 + more, 1120 + more * 30);
            let lag = ends.lag(&group(&[(0, Some(5000), Some(20_000))]), 1120 + more * 30);
            assert_eq!(lag.map(|lag| lag.at_least), Some(true), "after {more} looks");
        }
    }

    #[test]
    fn who_stands_still_falls_ever_further_behind() {
        // The end stands still too for a while, which a history that gets sparser must
        // not take for what is unread.
        let mut ends = Ends::default();
        for look in 0..400 {
            let now = look * 30;
            let still = group(&[(0, Some(7), Some(if look < 100 { 7 } else { look }))]);
            ends.note(std::slice::from_ref(&still), now);
            let seconds = ends.lag(&still, now).map(|lag| lag.seconds);
            assert_eq!(seconds, Some((now - 3000).max(0)), "at {now}");
        }
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
        check(&[(0, Some(299), Some(600)), (1, Some(9), Some(9))], Some(30));
        // What it has not begun to read does not hide the rest.
        check(&[(0, Some(299), Some(600)), (1, None, Some(9))], Some(30));
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
        assert_eq!((looks[0].at, looks[0].end), (0, 0), "the first is kept");
        let lag = long.lag(&group(&[(0, Some(999 * 300 - 600), Some(999 * 300))]), 999 * 30);
        assert_eq!(lag, Some(Lag { messages: 600, seconds: 30, at_least: false }));
        let mut anew = ends(5);
        anew.note(&[group(&[(0, Some(0), Some(7))])], 150);
        assert_eq!(
            anew.0[&TopicPartition::new("orders", 0)],
            [Look { since: 150, at: 150, end: 7, blind: false }]
        );
        anew.note(&[], 180);
        assert_eq!(anew.0.len(), 1, "a broker is away");
        anew.note(&[], 151 + FORGOTTEN);
        assert_eq!(anew, Ends::default(), "nobody reads it");
    }
}
