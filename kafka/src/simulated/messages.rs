//! Messages of a simulated cluster: its logs are numbers of writes, and what was
//! written is kept beside them.

use super::SimKafka;
use super::node::Node;
use super::record::SimRecord;
use super::state::State;
use crate::client::messages::{
    From, Message, Messages, NotPlaced, Producer, ReadMessages, Unwritten, WriteMessages, Written,
    merge, place,
};
use crate::client::{At, Cluster, Error, TopicPartition};
use async_trait::async_trait;
use kafka_protocol::ResponseError;
use std::collections::BTreeMap;

#[async_trait]
impl Messages for SimKafka {
    async fn read_messages(
        &self,
        cluster: &Cluster,
        what: &ReadMessages,
    ) -> Result<Option<Vec<Message>>, Error> {
        let read = self.ask("Fetch", &cluster.brokers, |asked| {
            let Some(partitions) = asked.state.leaders(&what.topic) else { return Ok(None) };
            let chosen = |it: &&i32| what.partition.is_none_or(|wanted| wanted == **it);
            let at = |it: &i32| TopicPartition::new(&what.topic, *it);
            let chosen: Vec<TopicPartition> = partitions.keys().filter(chosen).map(at).collect();
            if chosen.is_empty() {
                return Ok(None);
            }
            let is_led = |at: &&TopicPartition| partitions[&at.partition].is_some();
            let without: Vec<&TopicPartition> = chosen.iter().filter(|at| !is_led(at)).collect();
            if !without.is_empty() {
                return Ok(Some(Err(Error::no_leaders(&without))));
            }
            let all = chosen.iter().flat_map(|at| asked.state.messages(at, what)).collect();
            Ok(Some(Ok(merge(all, what.count, what.bytes, what.from == From::Newest))))
        })?;
        read.transpose()
    }

    async fn new_producer(&self, cluster: &Cluster) -> Result<Producer, Error> {
        self.ask("InitProducerId", &cluster.brokers, |asked| {
            let node = asked.state.nodes.get_mut(&asked.broker).expect("it answers");
            let refused = match std::mem::replace(&mut node.has_producers, true) {
                _ if asked.state.denies_producers => ResponseError::ClusterAuthorizationFailed,
                false => ResponseError::CoordinatorLoadInProgress,
                true => {
                    asked.state.producers += 1;
                    return Ok(Producer { id: asked.state.producers, epoch: 0 });
                }
            };
            let (subject, message) = ("a new producer".to_owned(), String::new());
            Err(Error::Kafka { call: asked.call, subject, code: refused, message })
        })
    }

    async fn write_messages(
        &self,
        cluster: &Cluster,
        what: &WriteMessages,
    ) -> Result<Option<Written>, Error> {
        let written = self.ask("Produce", &cluster.brokers, |asked| {
            let Some(leaders) = asked.state.leaders(&what.topic) else { return Ok(None) };
            match place(&what.messages, &leaders, what.turn) {
                Ok(places) => asked.state.write_all(what, &places).map(Some),
                Err(NotPlaced::Unknown(_)) => Ok(None),
                Err(NotPlaced::NoLeader) => {
                    Err(refused(&what.topic, ResponseError::LeaderNotAvailable))
                }
            }
        });
        match written {
            Err(error) if error.may_have_done_it() => {
                let leaders = self.state().leaders(&what.topic).unwrap_or_default();
                let Ok(places) = place(&what.messages, &leaders, what.turn) else {
                    return Err(error);
                };
                let unwritten = || Err(Unwritten { error: error.clone(), perhaps: true });
                let places = places.into_iter().map(|partition| (partition, unwritten()));
                Ok(Some(Written { places: places.collect() }))
            }
            written => written,
        }
    }
}

fn refused(topic: &str, code: ResponseError) -> Error {
    Error::Kafka { call: "Produce", subject: topic.to_owned(), code, message: String::new() }
}

impl State {
    /// Who leads each partition and works.
    fn leaders(&self, topic: &str) -> Option<BTreeMap<i32, Option<i32>>> {
        let partitions = self.metadata.topics.get(topic)?.partitions.iter().enumerate();
        let works = |id: &i32| self.nodes.get(id).is_some_and(Node::works);
        Some(partitions.map(|(at, it)| (it.view(at).index, it.leader.filter(works))).collect())
    }

    /// The log that the partition's leader has, if one works.
    fn log(&self, at: &TopicPartition) -> Option<&[u64]> {
        let leader = self.leaders(&at.topic)?.get(&at.partition).copied().flatten()?;
        let place = (at.topic.clone(), usize::try_from(at.partition).ok()?);
        Some(self.copies.get(&place)?.logs.get(&leader).map_or(&[], Vec::as_slice))
    }

    /// Nothing at all for a partition that nobody leads.
    pub(super) fn find_offset(
        &self,
        at: &TopicPartition,
        place: At,
    ) -> Option<(TopicPartition, Option<i64>)> {
        let log = self.log(at)?;
        let late = |time: i64| {
            let at_that_time = |write: &u64| self.records[write].timestamp >= time;
            log.iter().position(at_that_time).map(offset)
        };
        let found = match place {
            At::Earliest => Some(0),
            At::Latest | At::LatestStable => Some(offset(log.len())),
            At::Time(time) => late(time),
        };
        Some((at.clone(), found))
    }

    fn messages(&self, at: &TopicPartition, what: &ReadMessages) -> Vec<Message> {
        let Some(log) = self.log(at) else { return Vec::new() };
        let from = match what.from {
            From::Earliest | From::Newest => Some(0),
            From::Offset(from) => Some(from),
            From::Time(time) => {
                self.find_offset(at, At::Time(time.as_millisecond())).and_then(|it| it.1)
            }
        };
        let message = |(number, write): (usize, &u64)| {
            let SimRecord { timestamp, key, value, headers, .. } = self.records[write].clone();
            let (at, offset) = (at.clone(), offset(number));
            Message { at, offset, timestamp, key, value, headers, omitted: None }
        };
        let all = log.iter().enumerate().map(message);
        let wanted = |message: &Message| from.is_some_and(|from| message.offset >= from);
        all.filter(wanted).map(|message| message.within(what.bytes)).collect()
    }

    fn write_all(&mut self, what: &WriteMessages, places: &[i32]) -> Result<Written, Error> {
        let mut written = Vec::new();
        for (message, partition) in what.messages.iter().zip(places) {
            let leader = self.leaders(&what.topic).and_then(|leaders| leaders[partition]);
            let index = usize::try_from(*partition).unwrap_or_default();
            let before = written.iter().filter(|(other, _)| other == partition).count();
            let record = SimRecord::from_message(
                message,
                what.at,
                what.producer.map(|producer| (producer, before)),
            );
            let outcome = leader
                .ok_or_else(|| refused(&what.topic, ResponseError::LeaderNotAvailable))
                .and_then(|leader| self.write(leader, &what.topic, index, record));
            let at = TopicPartition::new(&what.topic, *partition);
            let place = |write: u64| self.log(&at).and_then(|log| log.binary_search(&write).ok());
            let outcome = match outcome {
                Ok(write) => Ok(offset(place(write).expect("whoever leads it has it"))),
                Err(error) => Err(Unwritten { perhaps: error.may_have_done_it(), error }),
            };
            written.push((*partition, outcome));
        }
        Written::or_nothing(written)
    }

    /// Writes a record at a broker, as a producer with acks=all. The number it
    /// has if it is acknowledged; it may be there even if not.
    pub(super) fn write(
        &mut self,
        broker: i32,
        topic: &str,
        partition: usize,
        record: SimRecord,
    ) -> Result<u64, Error> {
        let metadata = self.metadata.clone();
        let known = metadata.topics.get(topic);
        let of = known.and_then(|topic| topic.partitions.get(partition));
        let (Some(settings), Some(of)) = (known, of) else {
            return Err(refused(topic, ResponseError::UnknownTopicOrPartition));
        };
        if of.leader != Some(broker) {
            return Err(refused(topic, ResponseError::NotLeaderOrFollower));
        }
        if of.in_sync.len() < metadata.min_in_sync(settings).min(of.replicas.len()) {
            return Err(refused(topic, ResponseError::NotEnoughReplicas));
        }
        let copies = self.copies.entry((topic.to_owned(), partition)).or_default();
        let sent_before = record.by.and_then(|by| {
            let log = copies.logs.get(&broker)?;
            log.iter().copied().find(|write| self.records[write].by == Some(by))
        });
        let write = sent_before.unwrap_or_else(|| {
            self.writes += 1;
            self.records.insert(self.writes, record);
            let able = |id: &&i32| self.nodes.get(id).is_some_and(|it| it.works() && it.fetches);
            for id in of.in_sync.iter().filter(able) {
                copies.append(*id, self.writes);
            }
            self.writes
        });
        if !of.in_sync.iter().all(|id| copies.has(*id, write)) {
            return Err(refused(topic, ResponseError::RequestTimedOut));
        }
        if sent_before.is_none() || !copies.acknowledged.contains(&write) {
            copies.acknowledged.push(write);
        }
        Ok(write)
    }
}

fn offset(number: usize) -> i64 {
    i64::try_from(number).expect("logs are small")
}
