//! Which partitions a reset is about.

use super::Group;
use super::reset::nothing_committed;
use crate::resources::{Cluster, is_own};
use crate::{App, Error, InstanceAccess, Result};
use kafka::client::TopicPartition;
use kafka::client::groups::ResetTo;
use std::collections::{BTreeMap, BTreeSet};

/// A topic, or one partition of it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Choice {
    topic: String,
    partition: Option<i32>,
}

impl Choice {
    /// `orders` or `orders:0`; no topic's name has a colon.
    pub fn parse(text: &str) -> std::result::Result<Self, &'static str> {
        let Some((topic, number)) = text.split_once(':') else {
            return Ok(Self { topic: text.to_owned(), partition: None });
        };
        let number = number.parse().ok().filter(|number: &i32| *number >= 0);
        let number = number.ok_or("must name topics, as orders, or partitions, as orders:0")?;
        Ok(Self { topic: topic.to_owned(), partition: Some(number) })
    }
}

/// The partitions with what the group has committed of each: those that are
/// named, or all it has committed.
pub(super) async fn choose(
    access: &InstanceAccess,
    app: &App,
    cluster: &Cluster<'_>,
    group: &Group,
    to: ResetTo,
    choices: Option<&[Choice]>,
) -> Result<BTreeMap<TopicPartition, Option<i64>>> {
    let committed: BTreeMap<TopicPartition, Option<i64>> =
        group.offsets.iter().map(|offset| (offset.at.clone(), offset.offset)).collect();
    let mut chosen: BTreeMap<TopicPartition, Option<i64>> = match choices {
        None => committed.into_iter().filter(|(_, offset)| offset.is_some()).collect(),
        Some(choices) => {
            let known = |at: TopicPartition| {
                let offset = committed.get(&at).copied().flatten();
                (at, offset)
            };
            let own = |topic: &str| is_own(access, app, topic);
            named(cluster, choices, own).await?.into_iter().map(known).collect()
        }
    };
    if matches!(to, ResetTo::Shift(_)) {
        chosen.retain(|_, offset| offset.is_some());
    }
    if chosen.is_empty() { Err(nothing_committed()) } else { Ok(chosen) }
}

async fn named(
    cluster: &Cluster<'_>,
    choices: &[Choice],
    own: impl Fn(&str) -> bool,
) -> Result<BTreeSet<TopicPartition>> {
    let topics: BTreeSet<&String> = choices.iter().map(|choice| &choice.topic).collect();
    let topics: Vec<String> = topics.into_iter().cloned().collect();
    let topics = &topics;
    let there = cluster.ask(|admin, at| admin.groups().find_partitions(at, topics)).await?;
    let mut partitions = BTreeSet::new();
    for Choice { topic, partition } in choices {
        let unknown = |what: String| Error::field("topics", format!("there is no {what}"));
        let Some(numbers) = there.get(topic).filter(|_| own(topic)) else {
            return Err(unknown(format!("topic {topic}")));
        };
        let wanted = |number: &&i32| partition.is_none_or(|it| it == **number);
        let wanted: Vec<&i32> = numbers.iter().filter(wanted).collect();
        if wanted.is_empty() {
            let number = partition.map(|it| it.to_string()).unwrap_or_default();
            return Err(unknown(format!("partition {number} of topic {topic}")));
        }
        partitions.extend(wanted.into_iter().map(|number| TopicPartition::new(topic, *number)));
    }
    Ok(partitions)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn choices() {
        let check = |text: &str, expected: Option<(&str, Option<i32>)>| {
            let parsed = Choice::parse(text).ok();
            let parsed = parsed.as_ref().map(|it| (it.topic.as_str(), it.partition));
            assert_eq!(parsed, expected, "{text}");
        };
        check("orders", Some(("orders", None)));
        check("orders:0", Some(("orders", Some(0))));
        check("orders:17", Some(("orders", Some(17))));
        check("orders:-1", None);
        check("orders:", None);
        check("orders:1:2", None);
        check("orders:99999999999", None);
    }
}
