//! Messages over Kafka's protocol.

use super::placing::{NotPlaced, place};
use super::read;
use super::{
    Message, Messages, NewMessage, Producer, ReadMessages, Unwritten, WriteMessages, Written,
};
use crate::client::admin::init_producer::InitProducer;
use crate::client::admin::routes::Routes;
use crate::client::admin::write::Write;
use crate::client::ask::Brokers;
use crate::client::{Broker, Cluster, Endpoint, Error, ProtocolAdmin, TopicPartition};
use async_trait::async_trait;
use futures::future::join_all;
use kafka_protocol::ResponseError;
use std::collections::BTreeMap;
use tokio::time::{Instant, timeout_at};

#[async_trait]
impl Messages for ProtocolAdmin {
    async fn read_messages(
        &self,
        cluster: &Cluster,
        what: &ReadMessages,
    ) -> Result<Option<Vec<Message>>, Error> {
        read::read(&self.brokers(cluster)?, what).await
    }

    async fn new_producer(&self, cluster: &Cluster) -> Result<Producer, Error> {
        self.brokers(cluster)?.ask(&InitProducer).await
    }

    async fn write_messages(
        &self,
        cluster: &Cluster,
        what: &WriteMessages,
    ) -> Result<Option<Written>, Error> {
        let until = Instant::now() + what.within;
        let brokers = self.brokers(cluster)?;
        let routes = brokers.routes(std::slice::from_ref(&what.topic));
        let routes = timeout_at(until, routes).await.unwrap_or_else(|_| Err(nobody_told(what)))?;
        let Some(partitions) = routes.topics.get(&what.topic) else { return Ok(None) };
        let places = match place(&what.messages, partitions, what.turn) {
            Ok(places) => places,
            Err(NotPlaced::Unknown(_)) => return Ok(None),
            Err(NotPlaced::NoLeader) => {
                return Err(Error::no_leader(&TopicPartition::new(&what.topic, 0)));
            }
        };
        let outcomes = send(&brokers, &routes, what, &places, until).await;
        Written::from_outcomes(&places, &outcomes).map(Some)
    }
}

/// It passes, and nothing was sent.
fn nobody_told(what: &WriteMessages) -> Error {
    Error::Kafka {
        call: "Metadata",
        subject: what.topic.clone(),
        code: ResponseError::BrokerNotAvailable,
        message: "no broker said in time which broker leads it".to_owned(),
    }
}

/// What became of each partition's batch.
type Outcomes = BTreeMap<i32, Result<i64, Unwritten>>;

async fn send(
    brokers: &Brokers<'_>,
    routes: &Routes,
    what: &WriteMessages,
    places: &[i32],
    until: Instant,
) -> Outcomes {
    let mut outcomes = Outcomes::new();
    let mut calls: BTreeMap<Broker, BTreeMap<i32, Vec<&NewMessage>>> = BTreeMap::new();
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
        let call = Write::new(&what.topic, batches, what.at).by(what.producer);
        (numbers, ask(brokers, &leader, &call, until).await)
    });
    for (numbers, answer) in join_all(each).await {
        for number in numbers {
            outcomes.insert(number, outcome(&answer, number, what));
        }
    }
    outcomes
}

/// The leader's answer, or why there is none.
async fn ask(
    brokers: &Brokers<'_>,
    leader: &Broker,
    call: &Write<'_>,
    until: Instant,
) -> Result<Outcomes, Unwritten> {
    let asked = timeout_at(until, brokers.ask_one(leader, call)).await;
    let sent = call.is_sent();
    let error = match asked {
        Ok(Ok(said)) => return Ok(said),
        Ok(Err(error)) if sent => return Err(Unwritten::from_error(error)),
        Ok(Err(error)) => error,
        Err(_) => {
            // `ask_one` was cut off before it could note that for the next call.
            brokers.shun(leader);
            late(&leader.endpoint, sent)
        }
    };
    Err(Unwritten { error, perhaps: sent })
}

fn late(leader: &Endpoint, sent: bool) -> Error {
    let endpoint = leader.clone();
    if sent {
        let reason = "gave no answer in time".to_owned();
        return Error::Broken { endpoint, call: "Produce".to_owned(), reason };
    }
    Error::Unreachable { endpoint, reason: "took no connection in time".to_owned() }
}

/// What the leader says of one batch; nothing is written that it does not say.
fn outcome(
    answer: &Result<Outcomes, Unwritten>,
    number: i32,
    what: &WriteMessages,
) -> Result<i64, Unwritten> {
    let said = answer.as_ref().map_err(Clone::clone)?;
    if let Some(said) = said.get(&number) {
        return said.clone();
    }
    let subject = TopicPartition::new(&what.topic, number).to_string();
    let message = "the answer does not mention it".to_owned();
    let code = ResponseError::UnknownServerError;
    let error = Error::Kafka { call: "Produce", subject, code, message };
    Err(Unwritten { error, perhaps: true })
}

impl Unwritten {
    fn surely(error: Error) -> Self {
        Self { error, perhaps: false }
    }

    /// After some of Kafka's own errors, too, the messages may be in the log.
    pub(crate) fn from_error(error: Error) -> Self {
        let unsure = matches!(
            error,
            // That what was sent could not be read back tells nothing of it.
            Error::Tls { .. }
                | Error::Kafka {
                    code: ResponseError::NotEnoughReplicasAfterAppend
                        | ResponseError::KafkaStorageError
                        | ResponseError::NetworkException
                        | ResponseError::UnknownServerError,
                    ..
                }
        );
        Self { perhaps: unsure || error.may_have_done_it(), error }
    }
}

impl Written {
    /// Messages of one batch follow one another.
    fn from_outcomes(places: &[i32], outcomes: &Outcomes) -> Result<Self, Error> {
        let mut before: BTreeMap<i32, i64> = BTreeMap::new();
        let place = |partition: &i32| {
            let number = before.entry(*partition).or_default();
            let first = outcomes.get(partition).cloned().unwrap_or(Ok(0));
            let offset = first.map(|first| first.saturating_add(*number));
            *number += 1;
            (*partition, offset)
        };
        Self::or_nothing(places.iter().map(place).collect())
    }

    /// If nothing at all can be in the log, and the same can be done about all of it, it
    /// is an error.
    pub(crate) fn or_nothing(places: Vec<(i32, Result<i64, Unwritten>)>) -> Result<Self, Error> {
        let surely = |(_, it): &(i32, Result<i64, Unwritten>)| match it {
            Err(Unwritten { error, perhaps: false }) => Some(error.remedy()),
            _ => None,
        };
        if let Some((_, Err(first))) = places.first()
            && places.iter().all(|it| surely(it) == Some(first.error.remedy()))
        {
            return Err(first.error.clone());
        }
        Ok(Self { places })
    }
}
