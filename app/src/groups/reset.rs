//! Having a group go on from elsewhere.

use super::chosen::{Choice, choose};
use super::{Group, GroupOffset, Moved, find};
use crate::resources::{Cluster, change, in_order};
use crate::{App, Asked, Error, InstanceAccess, Result};
use kafka::client::groups::{NotMoved, ResetTo, plan};
use kafka::client::{Error as KafkaError, TopicPartition};
use model::Timestamp;
use std::collections::BTreeMap;

const STRATEGIES: &str = "must be to-earliest, to-latest, to-datetime or shift-by";

/// What may be asked.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Reset {
    pub strategy: Option<String>,
    /// Of `to-datetime`, as RFC 3339.
    pub datetime: Option<String>,
    /// Of `shift-by`.
    pub shift_by: Option<i64>,
    /// `orders` or `orders:0`; everything the group has committed if not given.
    pub topics: Option<Vec<String>>,
    /// Tell, and change nothing.
    pub dry_run: Option<bool>,
}

/// Where the group goes on, or would. Kafka keeps offsets from being changed
/// under consumers, so the group must have none.
pub async fn reset(
    access: &InstanceAccess,
    app: &App,
    name: &str,
    asked: Asked<Reset>,
) -> Result<Vec<Moved>> {
    access.may_change()?;
    let found = open(access, app, name).await;
    let ((cluster, group), wanted) = in_order(found, validate(asked))?;
    let Wanted { strategy, to, choices, dry_run } = wanted;
    without_members(&group)?;
    let partitions = choose(access, app, &cluster, &group, to, choices.as_deref()).await?;
    let moved = foresee(&cluster, to, &partitions).await?;
    if dry_run || moved.iter().all(|moved| moved.from == Some(moved.to)) {
        return Ok(moved);
    }
    let about = [
        ("group", name.to_owned()),
        ("strategy", strategy),
        ("partitions", moved.len().to_string()),
    ];
    let offsets: BTreeMap<TopicPartition, i64> =
        moved.iter().map(|moved| (moved.at.clone(), moved.to)).collect();
    let offsets = &offsets;
    let see = format!("GET groups/{name} tells its offsets, and the same call can be repeated");
    let effect = cluster.alter(
        &see,
        |admin, at| admin.groups().commit_offsets(at, name, offsets),
        |admin, at| async move {
            let found = admin.groups().describe_group(at, name).await?;
            let there =
                |it: &&GroupOffset| offsets.get(&it.at).is_some_and(|to| Some(*to) == it.offset);
            let moved = found.map(|group| group.offsets.iter().filter(there).count());
            Ok(moved == Some(offsets.len()))
        },
    );
    change(access, app, "group.update", &about, effect).await?;
    Ok(moved)
}

/// The cluster, and the group there.
async fn open<'a>(
    access: &InstanceAccess,
    app: &'a App,
    name: &str,
) -> Result<(Cluster<'a>, Group)> {
    let cluster = Cluster::open(access, app).await?;
    let group = find(access, app, &cluster, name).await?;
    Ok((cluster, group))
}

/// A request that says something.
struct Wanted {
    strategy: String,
    to: ResetTo,
    choices: Option<Vec<Choice>>,
    dry_run: bool,
}

fn validate(asked: Asked<Reset>) -> Result<Wanted> {
    let (reset, mut problems) = asked.open()?;
    let strategy = problems.required("strategy", reset.strategy);
    let to = match strategy.as_deref() {
        Some("to-earliest") => Some(ResetTo::Earliest),
        Some("to-latest") => Some(ResetTo::Latest),
        Some("to-datetime") => {
            let text = problems.required("datetime", reset.datetime);
            let time = text.map(|text| text.parse::<Timestamp>());
            let wrong = "must be a time such as 2026-11-15T12:00:00Z";
            let time = time.transpose().map_err(|_| wrong);
            problems.take("datetime", time).flatten().map(|at| ResetTo::Time(at.as_millisecond()))
        }
        Some("shift-by") => problems.required("shift_by", reset.shift_by).map(ResetTo::Shift),
        Some(_) => {
            problems.add("strategy", STRATEGIES);
            None
        }
        None => None,
    };
    let choices = reset.topics.map(|topics| topics.iter().map(|it| Choice::parse(it)).collect());
    let choices = problems.take("topics", choices.transpose()).flatten();
    problems.finish()?;
    Ok(Wanted {
        strategy: strategy.unwrap_or_default(),
        to: to.expect("what it is not is a problem"),
        choices,
        dry_run: reset.dry_run.unwrap_or_default(),
    })
}

fn without_members(group: &Group) -> Result<()> {
    let (name, members) = (&group.view.name, group.view.members.len());
    if members == 0 {
        return Ok(());
    }
    let noun = if members == 1 { "member" } else { "members" };
    Err(Error::Refused(format!(
        "Group {name} has {members} {noun}, and offsets can be reset only while it has none; stop its consumers first"
    )))
}

/// A partition without a leader is waited for, but not all the time.
async fn foresee(
    cluster: &Cluster<'_>,
    to: ResetTo,
    partitions: &BTreeMap<TopicPartition, Option<i64>>,
) -> Result<Vec<Moved>> {
    let all: Vec<TopicPartition> = partitions.keys().cloned().collect();
    let all = &all;
    let planned = cluster.ask_leaders("", |admin, at| async move {
        let mut found = Vec::new();
        for place in to.needs() {
            found.push(admin.groups().find_offsets(at, all, place).await?);
        }
        match plan(to, partitions, &found) {
            Err(NotMoved::NoLeader(at)) => Err(KafkaError::no_leader(&at)),
            planned => Ok(planned),
        }
    });
    planned.await?.map_err(|_| nothing_committed())
}

pub(super) fn nothing_committed() -> Error {
    Error::Refused("The group has committed no offset there; name topics and reset it to-earliest, to-latest or to-datetime".into())
}
