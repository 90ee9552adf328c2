//! A group as it is told.

use crate::client::TopicPartition;
use std::collections::{BTreeMap, BTreeSet};

/// Of a topic. Clients say what they are assigned, and may make up a longer one, which
/// would be in memory once for each partition they make up beside it.
const LONGEST_NAME: usize = 249;

/// A group and its members, without its offsets.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct GroupView {
    pub name: String,
    /// In Kafka's words: `Stable`, `Empty`, `PreparingRebalance` and others.
    pub state: String,
    /// `consumer`, `connect` or any other; empty for a group that never had
    /// members.
    pub protocol_type: String,
    pub members: Vec<Member>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Member {
    pub id: String,
    pub client_id: String,
    pub host: String,
    /// By topic.
    pub assignments: Vec<Assignment>,
}

/// Partitions of one topic.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Assignment {
    pub topic: String,
    pub partitions: Vec<i32>,
}

impl Assignment {
    pub fn new(topic: impl Into<String>, mut partitions: Vec<i32>) -> Self {
        partitions.sort_unstable();
        Self { topic: topic.into(), partitions }
    }
}

/// A whole group.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Group {
    pub view: GroupView,
    /// Of every partition it has committed or is assigned, by topic and number.
    pub offsets: Vec<GroupOffset>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct GroupOffset {
    pub at: TopicPartition,
    /// The next message it would read; none if it has committed nothing.
    pub offset: Option<i64>,
    /// After the last message; none while nobody leads the partition.
    pub end: Option<i64>,
}

impl GroupOffset {
    /// How many messages it is behind, where both ends are known.
    pub fn lag(&self) -> Option<i64> {
        Some(self.end?.saturating_sub(self.offset?).max(0))
    }
}

impl Group {
    /// Its members and what it has committed, its ends not known yet.
    pub(crate) fn new(mut view: GroupView, committed: &BTreeMap<TopicPartition, i64>) -> Self {
        view.members.sort_by(|a, b| a.id.cmp(&b.id));
        let mut all: BTreeSet<TopicPartition> = committed.keys().cloned().collect();
        let assigned = view.members.iter().flat_map(|member| &member.assignments);
        for assignment in assigned.filter(|it| it.topic.len() <= LONGEST_NAME) {
            let topic = &assignment.topic;
            all.extend(assignment.partitions.iter().map(|it| TopicPartition::new(topic, *it)));
        }
        let offset = |at: TopicPartition| {
            let offset = committed.get(&at).copied();
            GroupOffset { at, offset, end: None }
        };
        Self { offsets: all.into_iter().map(offset).collect(), view }
    }

    pub(crate) fn fill_ends(&mut self, ends: &BTreeMap<TopicPartition, Option<i64>>) {
        for offset in &mut self.offsets {
            offset.end = ends.get(&offset.at).copied().flatten();
        }
    }

    /// How many messages it is behind in all; none if that is not known of every
    /// partition.
    pub fn lag(&self) -> Option<i64> {
        let mut lags = self.offsets.iter().map(GroupOffset::lag);
        lags.try_fold(0_i64, |sum, lag| Some(sum.saturating_add(lag?)))
    }

    /// The topics it reads, by name.
    pub fn topics(&self) -> Vec<String> {
        let topics: BTreeSet<&String> =
            self.offsets.iter().map(|offset| &offset.at.topic).collect();
        topics.into_iter().cloned().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(rows: &[(Option<i64>, Option<i64>)], expected: Option<i64>) {
        let view = GroupView {
            name: "g".into(),
            state: "Empty".into(),
            protocol_type: String::new(),
            members: vec![],
        };
        let offset = |(offset, end): &(Option<i64>, Option<i64>)| GroupOffset {
            at: TopicPartition::new("t", 0),
            offset: *offset,
            end: *end,
        };
        let group = Group { view, offsets: rows.iter().map(offset).collect() };
        assert_eq!(group.lag(), expected, "{rows:?}");
    }

    #[test]
    fn lag_is_known_of_all_or_not_at_all() {
        check(&[], Some(0));
        check(&[(Some(3), Some(10)), (Some(1), Some(1))], Some(7));
        check(&[(Some(3), Some(10)), (Some(1), None)], None);
        check(&[(None, Some(10))], None);
        // The log was cut behind the group: it is not ahead of the end.
        check(&[(Some(12), Some(10))], Some(0));
        check(&[(Some(0), Some(i64::MAX)), (Some(0), Some(i64::MAX))], Some(i64::MAX));
    }

    #[test]
    fn a_name_that_no_topic_can_have_is_not_in_memory_for_each_partition() {
        let assignment = |length| Assignment::new("t".repeat(length), vec![0, 1]);
        let member = Member {
            id: "m".into(),
            client_id: "c".into(),
            host: "h".into(),
            assignments: vec![assignment(LONGEST_NAME), assignment(LONGEST_NAME + 1)],
        };
        let view = GroupView {
            name: "g".into(),
            state: "Stable".into(),
            protocol_type: "consumer".into(),
            members: vec![member],
        };
        let group = Group::new(view, &BTreeMap::new());
        assert_eq!(group.offsets.len(), 2);
        assert_eq!(group.topics(), ["t".repeat(LONGEST_NAME)]);
    }
}
