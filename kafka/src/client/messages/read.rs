//! Reading over Kafka's protocol: each leader is asked for all of its partitions
//! at once, again and again until there is enough.

use super::reading::{Reading, Wanted, merge};
use super::{From, Message, ReadMessages};
use crate::client::admin::fetch::Fetch;
use crate::client::admin::list_offsets::ListOffsets;
use crate::client::admin::routes::Routes;
use crate::client::ask::Brokers;
use crate::client::{At, Call, Connection, Error, TopicPartition};
use async_trait::async_trait;
use tokio::time::Instant;

/// Answers without anything new after which nobody asks on.
const PATIENCE: usize = 4;
/// What all partitions of one leader may hold in memory, in units of what may be
/// told.
const HELD: usize = 16;

pub(super) async fn read(
    brokers: &Brokers<'_>,
    what: &ReadMessages,
) -> Result<Option<Vec<Message>>, Error> {
    let routes = brokers.routes(std::slice::from_ref(&what.topic)).await?;
    let Some(partitions) = chosen(&routes, what) else { return Ok(None) };
    let led = routes.by_leader(&partitions);
    if led.is_empty() {
        return Err(Error::no_leader(&partitions[0]));
    }
    let until = Instant::now() + what.within;
    let call = |(leader, partitions)| (leader, ReadLed { what, partitions, until });
    let answers = brokers.ask_each(led.into_iter().map(call).collect()).await?;
    let all = answers.into_iter().flatten().collect();
    Ok(Some(merge(all, what.count, what.bytes, what.from == From::Newest)))
}

/// The partitions to read, if the topic has them.
fn chosen(routes: &Routes, what: &ReadMessages) -> Option<Vec<TopicPartition>> {
    let there = routes.topics.get(&what.topic)?;
    let at = |partition: &i32| TopicPartition::new(&what.topic, *partition);
    match what.partition {
        None => Some(there.keys().map(at).collect()).filter(|all: &Vec<_>| !all.is_empty()),
        Some(partition) => there.contains_key(&partition).then(|| vec![at(&partition)]),
    }
}

/// The partitions of one leader.
struct ReadLed<'a> {
    what: &'a ReadMessages,
    partitions: Vec<&'a TopicPartition>,
    until: Instant,
}

#[async_trait]
impl Call for ReadLed<'_> {
    type Answer = Vec<Message>;

    async fn run(&self, connection: &mut Connection) -> Result<Vec<Message>, Error> {
        let mut readings = self.begin(connection).await?;
        let mut idle = 0;
        while Instant::now() < self.until && idle < PATIENCE {
            let from = readings.iter().filter_map(|it| Some((it.at.partition, it.next()?)));
            let from: Vec<(i32, i64)> = from.collect();
            if from.is_empty() || held(&readings) > HELD * self.what.bytes {
                break;
            }
            let fetched = Fetch { topic: &self.what.topic, from }.run(connection).await?;
            let mut went_on = false;
            for part in fetched {
                let reading = readings.iter_mut().find(|it| it.at.partition == part.partition);
                let Some(reading) = reading else { continue };
                went_on |= reading.take(part).map_err(|reason| Error::Malformed {
                    endpoint: connection.endpoint().clone(),
                    call: "Fetch".to_owned(),
                    reason,
                })?;
            }
            idle = if went_on { 0 } else { idle + 1 };
        }
        Ok(readings.into_iter().flat_map(Reading::finish).collect())
    }
}

fn held(readings: &[Reading]) -> usize {
    readings.iter().map(Reading::held).sum()
}

impl ReadLed<'_> {
    async fn begin(&self, connection: &mut Connection) -> Result<Vec<Reading>, Error> {
        let list = async |connection: &mut Connection, at| {
            ListOffsets { partitions: self.partitions.clone(), at }.run(connection).await
        };
        let starts = list(connection, At::Earliest).await?;
        let ends = list(connection, At::LatestStable).await?;
        let late = match self.what.from {
            From::Time(at) => list(connection, At::Time(at.as_millisecond())).await?,
            _ => starts.clone(),
        };
        let newest = self.what.from == From::Newest;
        let wanted = Wanted { count: self.what.count, bytes: self.what.bytes, newest };
        let reading = |at: &&TopicPartition| {
            let start = starts.get(at).copied().flatten()?;
            let end = ends.get(at).copied().flatten()?;
            let from = match self.what.from {
                From::Offset(offset) => offset,
                From::Time(_) => late.get(at).copied().flatten().unwrap_or(end),
                From::Earliest | From::Newest => start,
            };
            Some(Reading::new((*at).clone(), wanted, start, from, end))
        };
        let readings: Vec<Reading> = self.partitions.iter().filter_map(reading).collect();
        if readings.is_empty() {
            return Err(Error::no_leader(self.partitions[0]));
        }
        Ok(readings)
    }
}
