//! A new topic.

use super::{
    MIN_IN_SYNC, Room, TOPIC_MESSAGE_BYTES, can_be_in_sync, messages_fit, number, theirs,
    unread_partitions, unread_settings,
};
use crate::resources::{Cluster, change, is_own, unknown};
use crate::{App, Asked, Error, InstanceAccess, Problems, Result};
use kafka::client::{Created, Error as KafkaError, Topic};
use model::TopicName;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};

/// As many copies as survive the loss of any server.
const REPLICAS: usize = 3;

/// What may be asked; only the name must be.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct NewTopic {
    pub name: Option<String>,
    pub partitions: Option<i64>,
    pub replicas: Option<i64>,
    pub config: Option<BTreeMap<String, String>>,
}

/// A topic that was made.
#[derive(Clone, PartialEq, Debug)]
pub struct Made {
    /// As a broker has it, or as it was asked for.
    pub topic: Topic,
    /// Whether a broker shows it. Kafka has confirmed it otherwise.
    pub is_shown: bool,
}

pub async fn create(access: &InstanceAccess, app: &App, asked: Asked<NewTopic>) -> Result<Made> {
    access.may_change()?;
    let (new, problems) = asked.open()?;
    let mut wanted = validate(new, problems)?;
    if !is_own(access, app, &wanted.topic.name) {
        let what = format!("must begin with {}- on a shared plan", access.instance.username);
        return Err(Error::field("name", what));
    }
    let cluster = Cluster::open(access, app).await?;
    let servers = cluster.servers();
    let replicas = wanted.replicas.unwrap_or_else(|| small(servers.min(REPLICAS)));
    if replicas > small(servers) {
        let what = format!("must be at most {servers}, the number of servers");
        return Err(Error::field("replicas", what));
    }
    if let Some(demand) = wanted.topic.settings.iter().find(|(name, _)| name == MIN_IN_SYNC) {
        can_be_in_sync(&demand.1, i64::from(replicas))?;
    }
    let message = wanted.topic.settings.iter().find(|(name, _)| name == TOPIC_MESSAGE_BYTES);
    messages_fit(access, app, message.map(|(_, bytes)| bytes))?;
    wanted.topic.replicas = replicas;
    let room = Room::look(access, app, &cluster).await?;
    if room.has(&wanted.topic.name) {
        return Err(exists(&wanted.topic.name));
    }
    let copies = usize::try_from(replicas).unwrap_or_default();
    room.fits(&wanted.topic.name, wanted.topic.partitions, copies)?;
    let about = [("topic", wanted.topic.name.clone())];
    change(access, app, "topic.create", &about, make(&cluster, &wanted.topic)).await
}

struct Wanted {
    topic: kafka::client::NewTopic,
    replicas: Option<i16>,
}

fn validate(new: NewTopic, mut problems: Problems) -> Result<Wanted> {
    let given = problems.required("name", new.name);
    let name = given.and_then(|name| problems.take("name", TopicName::parse(name)));
    let partitions = number(&mut problems, "partitions", new.partitions).unwrap_or(1);
    let replicas = number(&mut problems, "replicas", new.replicas);
    let config = problems.take("config", theirs(new.config)).flatten();
    problems.finish()?;
    let topic = kafka::client::NewTopic {
        name: name.map(String::from).unwrap_or_default(),
        partitions,
        replicas: 0,
        settings: config.unwrap_or_default().into_iter().collect(),
    };
    Ok(Wanted { topic, replicas })
}

/// There was no such topic when its room was looked at. So one that is there after an answer
/// of ours got lost was made by that attempt, if it is like it.
async fn make(cluster: &Cluster<'_>, wanted: &kafka::client::NewTopic) -> Result<Made> {
    let lost = &AtomicBool::new(false);
    let name = &wanted.name;
    let see = format!("GET topics/{name} tells whether it is there; if not, make it again");
    let created = cluster.alter(
        &see,
        |admin, at| async move {
            let created = admin.create_topic(at, wanted).await;
            if created.as_ref().is_err_and(KafkaError::may_have_done_it) {
                lost.store(true, Ordering::Relaxed);
            }
            created
        },
        |admin, at| async move {
            let found = admin.topics().describe_topic(at, name).await?;
            Ok(found.is_some_and(|topic| is_like(&topic, wanted)))
        },
    );
    let created = created.await?.unwrap_or(Created::New);
    if created == Created::AlreadyThere && !lost.load(Ordering::Relaxed) {
        return Err(exists(name));
    }
    cluster
        .until_all_show(|admin, alone| async move {
            Ok(admin.topics().describe_topic(&alone, name).await?.is_some())
        })
        .await;
    let cluster = cluster.after_change();
    let found = cluster.ask(|admin, at| admin.topics().describe_topic(at, name)).await;
    match (created, found) {
        (Created::New, found) => Ok(found.ok().flatten().map_or_else(|| unread(wanted), shown)),
        (_, Ok(Some(topic))) if is_like(&topic, wanted) => Ok(shown(topic)),
        (_, Ok(Some(_))) => Err(exists(name)),
        // The controller has it, and no broker says whether it is like what was wanted.
        (_, Ok(None) | Err(_)) => Err(unknown(&see, None)),
    }
}

/// A topic that Kafka confirmed and no broker shows yet.
fn unread(wanted: &kafka::client::NewTopic) -> Made {
    let count = usize::try_from(wanted.partitions).unwrap_or_default();
    let replicas = usize::try_from(wanted.replicas).unwrap_or_default();
    let topic = Topic {
        name: wanted.name.clone(),
        partitions: unread_partitions(0..count, replicas),
        settings: unread_settings(wanted.settings.iter().map(|(name, value)| (name, value))),
    };
    Made { topic, is_shown: false }
}

fn shown(topic: Topic) -> Made {
    Made { topic, is_shown: true }
}

fn exists(name: &str) -> Error {
    Error::field("name", format!("a topic {name} exists already"))
}

fn is_like(topic: &Topic, wanted: &kafka::client::NewTopic) -> bool {
    let is_set = |(name, value): &(String, String)| {
        topic.setting(name).is_some_and(|setting| setting.means(value))
    };
    i32::try_from(topic.partitions.len()) == Ok(wanted.partitions)
        && i16::try_from(topic.replicas()) == Ok(wanted.replicas)
        && topic.settings.len() == wanted.settings.len()
        && wanted.settings.iter().all(is_set)
}

fn small(count: usize) -> i16 {
    i16::try_from(count).unwrap_or(i16::MAX)
}
