//! Topics of a cluster.

mod create;
mod room;
mod update;

pub use create::{Made, NewTopic, create};
pub use kafka::client::{Setting, SettingKind, Topic};
pub use update::{TopicUpdate, update};

use crate::resources::{Cluster, change, is_own};
use crate::{App, Error, InstanceAccess, Problems, Result};
use kafka::client::PartitionView;
use kafka::settings::{MIN_IN_SYNC, TOPIC_MESSAGE_BYTES, bounds};
use kafka::throttle::is_ours;
use model::TopicName;
use room::Room;
use std::collections::{BTreeMap, HashMap};
use std::ops::Range;

/// Kafka makes no more partitions at once.
const MOST: i64 = 10_000;

/// A count of partitions or replicas.
fn number<T: TryFrom<i64>>(problems: &mut Problems, field: &str, asked: Option<i64>) -> Option<T> {
    let checked = asked.map(|asked| match T::try_from(asked) {
        Ok(number) if (1..=MOST).contains(&asked) => Ok(number),
        _ => Err(format!("must be 1 to {MOST}")),
    });
    problems.take(field, checked.transpose()).flatten()
}

/// Fails for a demand that no partition of the topic can ever meet. What is no number
/// Kafka refuses in its own words.
fn can_be_in_sync(demand: &str, replicas: i64) -> Result<()> {
    match demand.trim().parse::<i64>() {
        Ok(demand) if demand > replicas => Err(Error::field(
            "config",
            format!(
                "{MIN_IN_SYNC} is {demand}, but of {replicas} replicas no more than {replicas} \
                 can be in sync; give the topic more replicas, or a lower {MIN_IN_SYNC}"
            ),
        )),
        _ => Ok(()),
    }
}

/// Fails for settings that are ours while replicas move.
fn theirs(
    config: Option<BTreeMap<String, String>>,
) -> std::result::Result<Option<BTreeMap<String, String>>, String> {
    match config.iter().flat_map(BTreeMap::keys).find(|name| is_ours(name)) {
        Some(name) => Err(format!("{name} is set while replicas move, and never by a customer")),
        None => Ok(config),
    }
}

/// Fails for messages that no request to these brokers can hold. What is no number
/// Kafka refuses in its own words.
fn messages_fit(access: &InstanceAccess, app: &App, asked: Option<&String>) -> Result<()> {
    let bounds = app.heap_mb(&access.instance).and_then(|heap| bounds(TOPIC_MESSAGE_BYTES, heap));
    let asked = asked.and_then(|text| text.trim().parse::<i64>().ok());
    match (asked, bounds) {
        (Some(asked), Some(bounds)) if asked > *bounds.end() => Err(Error::field(
            "config",
            format!("{TOPIC_MESSAGE_BYTES} must be at most {} on this plan", bounds.end()),
        )),
        _ => Ok(()),
    }
}

/// A name that may be one of the caller's topics.
fn own(access: &InstanceAccess, app: &App, name: &str) -> Result<TopicName> {
    there(TopicName::parse(name).ok().filter(|name| is_own(access, app, name.as_str())))
}

/// Kafka's number where no broker is known.
const NOWHERE: i32 = -1;

/// Partitions that Kafka confirmed and no broker shows yet.
fn unread_partitions(numbers: Range<usize>, replicas: usize) -> Vec<PartitionView> {
    let partition = |number: usize| PartitionView {
        index: i32::try_from(number).unwrap_or(i32::MAX),
        leader: None,
        replicas: vec![NOWHERE; replicas],
        in_sync: vec![],
    };
    numbers.map(partition).collect()
}

/// Settings that Kafka confirmed and no broker shows yet.
fn unread_settings<'a>(
    settings: impl IntoIterator<Item = (&'a String, &'a String)>,
) -> Vec<Setting> {
    let setting = |(name, value): (&String, &String)| Setting {
        name: name.clone(),
        value: value.clone(),
        kind: SettingKind::Text,
    };
    settings.into_iter().map(setting).collect()
}

/// What was asked about is not there: nobody tells a name that can't be from one
/// that is not, or from somebody else's.
fn there<T>(found: Option<T>) -> Result<T> {
    found.ok_or(Error::NotFound)
}

/// A topic with the size of its copies.
#[derive(Clone, PartialEq, Debug)]
pub struct TopicDetails {
    pub topic: Topic,
    /// Bytes of the largest copy of each partition, by number; none where no
    /// broker told.
    pub sizes: HashMap<i32, i64>,
}

/// By name, without Kafka's own and other customers'.
pub async fn list(access: &InstanceAccess, app: &App) -> Result<Vec<Topic>> {
    let cluster = Cluster::open(access, app).await?;
    let mut topics = cluster.ask(|admin, at| admin.topics().list_topics(at)).await?;
    topics.retain(|topic| is_own(access, app, &topic.name));
    Ok(topics)
}

pub async fn read(access: &InstanceAccess, app: &App, name: &str) -> Result<TopicDetails> {
    let cluster = Cluster::open(access, app).await?;
    let name = own(access, app, name)?;
    let found = cluster.ask(|admin, at| admin.topics().describe_topic(at, name.as_str())).await?;
    let topic = there(found)?;
    let mut sizes = HashMap::new();
    for (_, directories) in cluster.log_dirs().await {
        let copies = directories.iter().flat_map(|directory| &directory.replicas);
        for copy in copies.filter(|copy| copy.topic == topic.name && !copy.future) {
            let size: &mut i64 = sizes.entry(copy.partition).or_default();
            *size = copy.bytes.max(*size);
        }
    }
    Ok(TopicDetails { topic, sizes })
}

/// Deletes a topic and everything in it.
pub async fn delete(access: &InstanceAccess, app: &App, name: &str) -> Result<()> {
    access.may_change()?;
    let cluster = Cluster::open(access, app).await?;
    let name = own(access, app, name)?;
    let found = cluster.ask(|admin, at| admin.topics().describe_topic(at, name.as_str())).await?;
    there(found)?;
    let about = [("topic", name.to_string())];
    // One that is gone by now was deleted by a call whose answer got lost, or by
    // somebody else, to the same end.
    let name = name.as_str();
    let see = format!("GET topics/{name} tells whether it is there; if it is, delete it again");
    let effect = cluster.alter(
        &see,
        |admin, at| admin.topics().delete_topic(at, name),
        |admin, at| async move { Ok(admin.topics().describe_topic(at, name).await?.is_none()) },
    );
    change(access, app, "topic.delete", &about, effect).await?;
    cluster
        .until_all_show(|admin, alone| async move {
            Ok(admin.topics().describe_topic(&alone, name).await?.is_none())
        })
        .await;
    Ok(())
}
