//! `/api/topics`.

use crate::about::{About, Input};
use crate::answer::Answer;
use crate::auth::{Changing, Seeing};
use crate::body::{Body, Fields};
use crate::path::Named;
use app::Right;
use app::topics::{self, NewTopic, Setting, SettingKind, TopicUpdate};
use axum::Json;
use axum::http::StatusCode;
use serde_json::{Map, Value, json};
use web::error::Failure;
use wire::customer::Message;
use wire::topics::{CreateTopic, Partition, Topic, TopicDetails, UpdateTopic};

const READY: &str = "ready";
const CREATING: &str = "creating";

fn document(topic: &topics::Topic) -> Topic {
    Topic {
        name: topic.name.clone(),
        partitions: count(topic.partitions.len()),
        replicas: count(topic.replicas()),
        status: if topic.partitions.is_empty() { CREATING } else { READY }.into(),
        config: topic.settings.iter().map(|it| (it.name.clone(), value(it))).collect(),
    }
}

/// Numbers and flags as such, as far as JSON can write them.
fn value(setting: &Setting) -> Value {
    let text = setting.value.as_str();
    let typed = match setting.kind {
        SettingKind::Text => None,
        SettingKind::Flag => text.parse::<bool>().ok().map(Value::from),
        SettingKind::Number => {
            let whole = text.parse::<i64>().ok().map(Value::from);
            whole.or_else(|| text.parse::<f64>().ok().map(Value::from))
        }
    };
    typed.unwrap_or_else(|| text.into())
}

fn count(number: usize) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

fn example() -> Topic {
    Topic {
        name: "orders".into(),
        partitions: 1,
        replicas: 1,
        status: READY.into(),
        config: example_config(),
    }
}

fn example_config() -> Map<String, Value> {
    Map::from_iter([
        ("cleanup.policy".to_owned(), json!("compact")),
        ("retention.ms".to_owned(), json!(86_400_000)),
    ])
}

/// `GET /api/topics`.
pub async fn list(Seeing(access, app): Seeing) -> Answer<Vec<Topic>> {
    let topics = topics::list(&access, &app).await?;
    Ok(Json(topics.iter().map(document).collect()))
}

pub fn about_list() -> About {
    About::new("List topics")
        .needs(Right::SeeInstances)
        .asks_kafka()
        .list("By name, without Kafka's own", example())
}

/// `POST /api/topics`.
pub async fn create(
    Changing(access, app): Changing,
    body: Body,
) -> Result<(StatusCode, Json<Topic>), Failure> {
    let made = topics::create(&access, &app, body.ask(new_topic)).await?;
    let mut topic = document(&made.topic);
    if !made.is_shown {
        topic.status = CREATING.into();
    }
    Ok((StatusCode::CREATED, Json(topic)))
}

fn new_topic(fields: &mut Fields) -> NewTopic {
    NewTopic {
        name: fields.text("name"),
        partitions: fields.integer("partitions"),
        replicas: fields.integer("replicas"),
        config: fields.map("config"),
    }
}

pub fn about_create() -> About {
    let asked = CreateTopic {
        name: "payments".into(),
        partitions: Some(1),
        replicas: Some(1),
        config: Some(example_config()),
    };
    About::new("Make a topic")
        .needs(Right::ChangeInstances)
        .asks_kafka()
        .body(&CREATE_FIELDS, &asked)
        .created_json("The topic is there", &Topic { name: "payments".into(), ..example() })
}

const CREATE_FIELDS: [Input; 4] = [
    Input::text("name", "1 to 249 letters, digits, dots, underscores and hyphens")
        .required()
        .at_most(249)
        .like("^[A-Za-z0-9._-]+$"),
    Input::integer("partitions", "1 if not given").at_least(1).at_most(10_000),
    Input::integer("replicas", "At most as many as servers; 3 if not given, or all there are")
        .at_least(1)
        .at_most(1000),
    Input::map("config", "Kafka's settings of topics, by name"),
];

/// `GET /api/topics/<name>`.
pub async fn read(Seeing(access, app): Seeing, Named(name): Named) -> Answer<TopicDetails> {
    let found = topics::read(&access, &app, &name).await?;
    let partitions = found.topic.partitions.iter();
    let numbers = |nodes: &[i32]| nodes.iter().map(|node| i64::from(*node)).collect();
    let details = partitions
        .map(|partition| Partition {
            partition: i64::from(partition.index),
            leader: partition.leader.map(i64::from),
            replicas: numbers(&partition.replicas),
            in_sync: numbers(&partition.in_sync),
            size: found.sizes.get(&partition.index).copied(),
        })
        .collect();
    Ok(Json(TopicDetails { topic: document(&found.topic), details }))
}

pub fn about_read() -> About {
    let partition = Partition {
        partition: 0,
        leader: Some(1),
        replicas: vec![1],
        in_sync: vec![1],
        size: Some(count(1024)),
    };
    About::new("Read a topic with its partitions")
        .needs(Right::SeeInstances)
        .asks_kafka()
        .or_not_found()
        .json("The topic", &TopicDetails { topic: example(), details: vec![partition] })
}

/// `PUT /api/topics/<name>`.
pub async fn update(
    Changing(access, app): Changing,
    Named(name): Named,
    body: Body,
) -> Answer<Topic> {
    let topic = topics::update(&access, &app, &name, body.ask(asked)).await?;
    Ok(Json(document(&topic)))
}

fn asked(fields: &mut Fields) -> TopicUpdate {
    TopicUpdate {
        partitions: fields.integer("partitions"),
        replicas: fields.integer("replicas"),
        config: fields.map("config"),
    }
}

pub fn about_update() -> About {
    let asked = UpdateTopic { partitions: Some(1), config: Some(example_config()) };
    About::new("Give a topic more partitions or other settings")
        .needs(Right::ChangeInstances)
        .asks_kafka()
        .or_not_found()
        .optional_body(&UPDATE_FIELDS, &asked)
        .json("The topic as it is now", &example())
}

const UPDATE_FIELDS: [Input; 2] = [
    Input::integer("partitions", "As many as now or more").at_least(1).at_most(10_000),
    Input::map("config", "All that is set for this topic from now on; unchanged if not given"),
];

/// `DELETE /api/topics/<name>`.
pub async fn delete(Changing(access, app): Changing, Named(name): Named) -> Answer<Message> {
    topics::delete(&access, &app, &name).await?;
    Ok(Json(done()))
}

fn done() -> Message {
    Message { message: "The topic is deleted".into() }
}

pub fn about_delete() -> About {
    About::new("Delete a topic and everything in it")
        .needs(Right::ChangeInstances)
        .asks_kafka()
        .or_not_found()
        .json("It is gone", &done())
}
