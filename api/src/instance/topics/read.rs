//! `GET /api/topics/<name>`.

use super::{count, document, example};
use crate::auth::Seeing;
use crate::error::Failure;
use crate::openapi::About;
use crate::path::Named;
use crate::state::Api;
use app::Right;
use app::topics;
use axum::Json;
use axum::extract::State;
use wire::topics::{Partition, TopicDetails};

pub async fn handle(
    State(api): State<Api>,
    Seeing(access): Seeing,
    Named(name): Named,
) -> Result<Json<TopicDetails>, Failure> {
    let found = topics::read(&access, &api.app, &name).await?;
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

pub fn about() -> About {
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
