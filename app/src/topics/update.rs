//! More partitions of a topic, or other settings.

use super::{
    MIN_IN_SYNC, Room, TOPIC_MESSAGE_BYTES, can_be_in_sync, messages_fit, number, own, theirs,
    there, unread_partitions, unread_settings,
};
use crate::resources::{Cluster, change, demand_may_change, in_order};
use crate::{App, Asked, Error, InstanceAccess, Result};
use kafka::client::{Topic, TopicChange};
use std::collections::BTreeMap;

#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct TopicUpdate {
    pub partitions: Option<i64>,
    /// As many as there are: clients send back what they were told.
    pub replicas: Option<i64>,
    /// All that is set for this very topic from then on.
    pub config: Option<BTreeMap<String, String>>,
}

pub async fn update(
    access: &InstanceAccess,
    app: &App,
    name: &str,
    asked: Asked<TopicUpdate>,
) -> Result<Topic> {
    access.may_change()?;
    let name = own(access, app, name)?;
    let found = find(access, app, name.as_str()).await;
    let ((cluster, topic), (wanted, replicas)) = in_order(found, validate(asked))?;
    let there = topic.partitions.len();
    if wanted.partitions.is_some_and(|wanted| usize::try_from(wanted).is_ok_and(|it| it < there)) {
        let what = format!("must be at least {there}, as it has now: partitions only grow");
        return Err(Error::field("partitions", what));
    }
    keeps_replicas(&topic, replicas)?;
    if let Some(wanted) = wanted.partitions
        && usize::try_from(wanted).is_ok_and(|wanted| wanted > there)
    {
        let room = Room::look(access, app, &cluster).await?;
        room.fits(&topic.name, wanted, topic.replicas())?;
    }
    if let Some(settings) = &wanted.settings
        && changes_demand(&topic, settings)?
    {
        demand_may_change(access, &cluster, Some(&topic.name)).await?;
    }
    if !cluster.may_show_old() && is_changed(&topic, &wanted) {
        until_all_show(&cluster, &topic).await;
        return Ok(topic);
    }
    let settings = wanted.settings.as_ref();
    messages_fit(access, app, settings.and_then(|all| all.get(TOPIC_MESSAGE_BYTES)))?;
    let about = [("topic", name.to_string())];
    change(access, app, "topic.update", &about, alter(&cluster, &topic, &wanted)).await
}

/// The cluster, and the topic there.
async fn find<'a>(
    access: &InstanceAccess,
    app: &'a App,
    name: &str,
) -> Result<(Cluster<'a>, Topic)> {
    let cluster = Cluster::open(access, app).await?;
    let found = cluster.ask(|admin, at| admin.topics().describe_topic(at, name)).await?;
    Ok((cluster, there(found)?))
}

/// The change, and how many replicas the topic is said to have.
fn validate(asked: Asked<TopicUpdate>) -> Result<(TopicChange, Option<usize>)> {
    let (asked, mut problems) = asked.open()?;
    let partitions: Option<i32> = number(&mut problems, "partitions", asked.partitions);
    let replicas: Option<usize> = number(&mut problems, "replicas", asked.replicas);
    let settings = problems.take("config", theirs(asked.config)).flatten();
    problems.finish()?;
    Ok((TopicChange { partitions, settings }, replicas))
}

fn keeps_replicas(topic: &Topic, asked: Option<usize>) -> Result<()> {
    let there = topic.replicas();
    // One that is being made has none to tell of yet.
    if there == 0 || asked.is_none_or(|asked| asked == there) {
        return Ok(());
    }
    let what = format!("can't change: the topic has {there}; leave it out, or make another topic");
    Err(Error::field("replicas", what))
}

/// Whether another number of copies must be in sync from then on; fails for one that
/// can't be.
fn changes_demand(topic: &Topic, settings: &BTreeMap<String, String>) -> Result<bool> {
    match (topic.setting(MIN_IN_SYNC), settings.get(MIN_IN_SYNC)) {
        (Some(is), Some(demand)) if is.means(demand) => Ok(false),
        // One that is being made has no replicas to tell of yet.
        (_, Some(_)) if topic.replicas() == 0 => Ok(true),
        (_, Some(demand)) => {
            let replicas = i64::try_from(topic.replicas()).unwrap_or(i64::MAX);
            can_be_in_sync(demand, replicas).map(|()| true)
        }
        (is, None) => Ok(is.is_some()),
    }
}

async fn alter(cluster: &Cluster<'_>, before: &Topic, wanted: &TopicChange) -> Result<Topic> {
    let name = before.name.as_str();
    let see = format!("GET topics/{name} tells what it has, and the same call can be repeated");
    let changed = cluster.alter(
        &see,
        |admin, at| admin.topics().change_topic(at, name, wanted),
        |admin, at| async move {
            let found = admin.topics().describe_topic(at, name).await?;
            Ok(found.is_some_and(|topic| is_changed(&topic, wanted)))
        },
    );
    match changed.await? {
        Some(true) => {}
        Some(false) => return Err(Error::NotFound),
        None => return unread(cluster, before, wanted).await,
    }
    // Whether it is there for all is seen from what one of them has by now.
    let changed = there(cluster.ask(|admin, at| admin.topics().describe_topic(at, name)).await?)?;
    until_all_show(cluster, &changed).await;
    Ok(changed)
}

async fn until_all_show(cluster: &Cluster<'_>, topic: &Topic) {
    let (count, settings) = (topic.partitions.len(), &topic.settings);
    cluster
        .until_all_show(|admin, alone| async move {
            let seen = admin.topics().describe_topic(&alone, &topic.name).await?;
            Ok(seen.is_some_and(|it| it.partitions.len() == count && it.settings == *settings))
        })
        .await;
}

/// The topic after a change that Kafka confirmed and that the broker did not show: as another
/// has it by the end of the caller's patience, or as it was before with what was changed.
async fn unread(cluster: &Cluster<'_>, before: &Topic, wanted: &TopicChange) -> Result<Topic> {
    let name = before.name.as_str();
    cluster
        .until_all_show(|admin, alone| async move {
            let seen = admin.topics().describe_topic(&alone, name).await?;
            Ok(seen.is_some_and(|topic| is_changed(&topic, wanted)))
        })
        .await;
    let cluster = cluster.after_change();
    let found = cluster.ask(|admin, at| admin.topics().describe_topic(at, name)).await;
    if let Some(topic) = found.ok().flatten().filter(|topic| is_changed(topic, wanted)) {
        return Ok(topic);
    }
    let mut topic = before.clone();
    let count = wanted.partitions.and_then(|count| usize::try_from(count).ok());
    let new = topic.partitions.len()..count.unwrap_or_default();
    topic.partitions.extend(unread_partitions(new, before.replicas()));
    if let Some(settings) = &wanted.settings {
        topic.settings = unread_settings(settings);
    }
    Ok(topic)
}

fn is_changed(topic: &Topic, wanted: &TopicChange) -> bool {
    let count = i32::try_from(topic.partitions.len()).ok();
    let is_set = |(name, value): (&String, &String)| {
        topic.setting(name).is_some_and(|setting| setting.means(value))
    };
    wanted.partitions.is_none_or(|wanted| count == Some(wanted))
        && wanted.settings.as_ref().is_none_or(|settings| {
            settings.len() == topic.settings.len() && settings.iter().all(is_set)
        })
}
