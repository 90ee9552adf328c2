//! A new topic.

use super::{MIN_IN_SYNC, can_be_in_sync, number};
use crate::resources::{Cluster, change, is_own};
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

pub async fn create(access: &InstanceAccess, app: &App, asked: Asked<NewTopic>) -> Result<Topic> {
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
    wanted.topic.replicas = replicas;
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
    problems.finish()?;
    let topic = kafka::client::NewTopic {
        name: name.map(String::from).unwrap_or_default(),
        partitions,
        replicas: 0,
        settings: new.config.unwrap_or_default().into_iter().collect(),
    };
    Ok(Wanted { topic, replicas })
}

/// A topic that is found after an answer got lost is the one that was made, if
/// it is like it. One that was there before and is like it in all is told as made then:
/// whoever asked has what they asked for, and to look for it beforehand would cost every
/// call a question.
async fn make(cluster: &Cluster<'_>, wanted: &kafka::client::NewTopic) -> Result<Topic> {
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
    let may_be_ours = lost.load(Ordering::Relaxed);
    cluster
        .until_all_show(|admin, alone| async move {
            Ok(admin.topics().describe_topic(&alone, name).await?.is_some())
        })
        .await;
    let cluster = cluster.after_change();
    let found = cluster.ask(|admin, at| admin.topics().describe_topic(at, name)).await?;
    match (created, found) {
        (Created::New, Some(topic)) => Ok(topic),
        (Created::AlreadyThere, Some(topic)) if may_be_ours && is_like(&topic, wanted) => Ok(topic),
        (Created::AlreadyThere, _) => {
            Err(Error::field("name", format!("a topic {name} exists already")))
        }
        (Created::New, None) => {
            Err(Error::Refused(format!("Topic {name} was deleted by somebody else meanwhile")))
        }
    }
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
