//! Messages over Kafka's protocol.

use super::placing::{NotPlaced, place};
use super::read;
use super::{Message, Messages, NewMessage, ReadMessages, Unwritten, WriteMessages, Written};
use crate::client::admin::routes::Routes;
use crate::client::admin::write::Write;
use crate::client::ask::Brokers;
use crate::client::{Cluster, Endpoint, Error, ProtocolAdmin, TopicPartition};
use async_trait::async_trait;
use futures::future::join_all;
use kafka_protocol::ResponseError;
use std::collections::BTreeMap;

#[async_trait]
impl Messages for ProtocolAdmin {
    async fn read_messages(
        &self,
        cluster: &Cluster,
        what: &ReadMessages,
    ) -> Result<Option<Vec<Message>>, Error> {
        read::read(&self.brokers(cluster)?, what).await
    }

    async fn write_messages(
        &self,
        cluster: &Cluster,
        what: &WriteMessages,
    ) -> Result<Option<Written>, Error> {
        let brokers = self.brokers(cluster)?;
        let routes = brokers.routes(std::slice::from_ref(&what.topic)).await?;
        let Some(partitions) = routes.topics.get(&what.topic) else { return Ok(None) };
        let places = match place(&what.messages, partitions, what.turn) {
            Ok(places) => places,
            Err(NotPlaced::Unknown(_)) => return Ok(None),
            Err(NotPlaced::NoLeader) => {
                return Err(Error::no_leader(&TopicPartition::new(&what.topic, 0)));
            }
        };
        let outcomes = send(&brokers, &routes, what, &places).await;
        Written::of(&places, &outcomes).map(Some)
    }
}

/// What became of each partition's batch.
type Outcomes = BTreeMap<i32, Result<i64, Unwritten>>;

async fn send(
    brokers: &Brokers<'_>,
    routes: &Routes,
    what: &WriteMessages,
    places: &[i32],
) -> Outcomes {
    let mut outcomes = Outcomes::new();
    let mut calls: BTreeMap<Endpoint, BTreeMap<i32, Vec<&NewMessage>>> = BTreeMap::new();
    for (message, partition) in what.messages.iter().zip(places) {
        let at = TopicPartition::new(&what.topic, *partition);
        if let Some(leader) = routes.leader(&at) {
            let batches = calls.entry(leader.clone()).or_default();
            batches.entry(*partition).or_default().push(message);
        } else {
            outcomes.insert(*partition, Err(Unwritten::surely(Error::no_leader(&at))));
        }
    }
    let each = calls.into_iter().map(async |(leader, batches)| {
        let numbers: Vec<i32> = batches.keys().copied().collect();
        let call = Write { topic: &what.topic, batches, at: what.at };
        (numbers, brokers.ask_one(&leader, &call).await)
    });
    for (numbers, answer) in join_all(each).await {
        for number in numbers {
            outcomes.insert(number, outcome(&answer, number, what));
        }
    }
    outcomes
}

/// What the leader says of one batch; nothing is written that it does not say.
fn outcome(
    answer: &Result<BTreeMap<i32, Result<i64, Error>>, Error>,
    number: i32,
    what: &WriteMessages,
) -> Result<i64, Unwritten> {
    let said = answer.as_ref().map_err(|error| Unwritten::of(error.clone()))?;
    match said.get(&number) {
        Some(Ok(offset)) => Ok(*offset),
        Some(Err(error)) => Err(Unwritten::of(error.clone())),
        None => {
            let subject = TopicPartition::new(&what.topic, number).to_string();
            let message = "the answer does not tell of it".to_owned();
            let code = ResponseError::UnknownServerError;
            let error = Error::Kafka { call: "Produce", subject, code, message };
            Err(Unwritten { error, perhaps: true })
        }
    }
}

impl Unwritten {
    fn surely(error: Error) -> Self {
        Self { error, perhaps: false }
    }

    fn of(error: Error) -> Self {
        let appended =
            matches!(error, Error::Kafka { code: ResponseError::NotEnoughReplicasAfterAppend, .. });
        Self { perhaps: appended || error.may_have_done_it(), error }
    }
}

impl Written {
    /// Messages of one batch follow one another. If nothing at all can be in the
    /// log it is an error, after which everything may be tried again.
    pub(crate) fn of(places: &[i32], outcomes: &Outcomes) -> Result<Self, Error> {
        let surely = |it: &&Result<i64, Unwritten>| it.as_ref().is_err_and(|it| !it.perhaps);
        if let Some(Err(nothing)) = outcomes.values().next()
            && outcomes.values().all(|it| surely(&it))
        {
            return Err(nothing.error.clone());
        }
        let mut before: BTreeMap<i32, i64> = BTreeMap::new();
        let place = |partition: &i32| {
            let number = before.entry(*partition).or_default();
            let first = outcomes.get(partition).cloned().unwrap_or(Ok(0))?;
            let offset = first.saturating_add(*number);
            *number += 1;
            Ok((*partition, offset))
        };
        Ok(Self { places: places.iter().map(place).collect() })
    }
}
