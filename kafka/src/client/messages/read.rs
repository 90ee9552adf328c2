//! Reading over Kafka's protocol: each leader is asked for all of its partitions
//! at once, again and again until there is enough.
//!
//! Unpacking takes a processor for as long as it takes, so it has a thread to
//! itself: whoever else is served goes on.

use super::budget::Budget;
use super::reading::{Reading, Wanted, merge};
use super::{From, Message, ReadMessages};
use crate::client::admin::fetch::{Fetch, Fetched};
use crate::client::admin::list_offsets::ListOffsets;
use crate::client::admin::routes::Routes;
use crate::client::ask::Brokers;
use crate::client::error::named;
use crate::client::{At, Call, Connection, Error, TopicPartition};
use kafka_protocol::ResponseError;
use kafka_protocol::messages::FetchRequest;
use std::collections::BTreeMap;
use std::sync::Arc;
use tokio::task::spawn_blocking;
use tokio::time::Instant;

/// Answers without anything new after which nobody asks on.
const PATIENCE: usize = 4;
/// What all partitions of one leader may hold in memory, in units of what may be
/// told.
const HELD: usize = 32;
/// What packed batches may unpack to in one pass through all partitions. Nothing of
/// it stays in memory, but it takes its time.
const PASS: usize = 64 << 20;
/// The same in one call, which may take several passes, and one batch of each
/// partition at least.
const CALL: usize = 4 * PASS;
const TOO_MUCH: &str = "unpacking it takes more than one call may take; ask for fewer messages, or for those of one partition";

pub(super) async fn read(
    brokers: &Brokers<'_>,
    what: &ReadMessages,
) -> Result<Option<Vec<Message>>, Error> {
    let routes = brokers.routes(std::slice::from_ref(&what.topic)).await?;
    let Some(partitions) = chosen(&routes, what) else { return Ok(None) };
    // A list has no place to say what is missing from it.
    let without: Vec<&TopicPartition> =
        partitions.iter().filter(|at| routes.leader(at).is_none()).collect();
    if !without.is_empty() {
        return Err(Error::no_leaders(&without));
    }
    let led = routes.by_leader(&partitions);
    let budget = Arc::new(Budget::new(Instant::now() + what.within, CALL));
    let unpacked = PASS / partitions.len();
    let call = |(leader, partitions)| {
        (leader, ReadLed { what, partitions, unpacked, budget: Arc::clone(&budget) })
    };
    let answers = brokers.ask_every(led.into_iter().map(call).collect(), |missing| {
        let partitions = missing.iter().flat_map(|(_, call)| call.partitions.iter().copied());
        let partitions: Vec<&TopicPartition> = partitions.collect();
        format!("Topic {} without {}", what.topic, named(&partitions))
    });
    let all = answers.await?.into_iter().flatten().collect();
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
    /// What one pass through one of them may unpack.
    unpacked: usize,
    budget: Arc<Budget>,
}

impl Call for ReadLed<'_> {
    type Answer = Vec<Message>;

    async fn run(&self, connection: &mut Connection) -> Result<Vec<Message>, Error> {
        let mut readings = self.begin(connection).await?;
        let mut idle = 0;
        while idle < PATIENCE {
            let from = readings.iter().filter_map(|it| Some((it.at.partition, it.next()?)));
            let from: Vec<(i32, i64)> = from.collect();
            if from.is_empty() {
                break;
            }
            if self.budget.is_spent() || held(&readings) > HELD * self.what.bytes {
                readings.iter_mut().for_each(Reading::cut);
                break;
            }
            let fetched = Fetch { topic: &self.what.topic, from }.run(connection).await?;
            let budget = Arc::clone(&self.budget);
            let taken = spawn_blocking(move || take(readings, fetched, &budget)).await;
            // What a producer has made up may bring down who unpacks it.
            let taken = taken.unwrap_or_else(|error| Err(format!("unpacking it failed: {error}")));
            let (all, went_on) = taken.map_err(|reason| unreadable(connection, reason))?;
            readings = all;
            idle = if went_on { 0 } else { idle + 1 };
        }
        let short = readings.iter().any(|it| it.short);
        let found: Vec<Message> = readings.into_iter().flat_map(Reading::finish).collect();
        if found.is_empty() && short {
            // Nothing at all would say that there is nothing.
            return Err(unreadable(connection, TOO_MUCH.to_owned()));
        }
        Ok(found)
    }
}

/// One that is led by another by now is found there. Who leads it is known, so that it
/// is not one that nobody leads.
fn moved(at: &TopicPartition) -> Error {
    Error::Kafka {
        call: "ListOffsets",
        subject: at.to_string(),
        code: ResponseError::NotLeaderOrFollower,
        message: String::new(),
    }
}

fn unreadable(from: &Connection, reason: String) -> Error {
    from.malformed::<FetchRequest>(reason)
}

/// Each reading takes what is its own. Whether that was anything.
fn take(
    mut readings: Vec<Reading>,
    fetched: Vec<Fetched>,
    budget: &Budget,
) -> Result<(Vec<Reading>, bool), String> {
    let mut went_on = false;
    for part in fetched {
        // However many an answer tells of, nobody goes through them for longer than
        // was said.
        if budget.is_spent() {
            break;
        }
        let reading = readings.iter_mut().find(|it| it.at.partition == part.partition);
        let Some(reading) = reading else { continue };
        went_on |= reading.take(part, budget)?;
    }
    Ok((readings, went_on))
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
        let ReadMessages { count, bytes, .. } = *self.what;
        let wanted = Wanted { count, bytes, newest, unpacked: self.unpacked };
        let reading = |at: &&TopicPartition| -> Result<Reading, Error> {
            let place = |found: &BTreeMap<TopicPartition, Option<i64>>| {
                found.get(at).copied().flatten().ok_or_else(|| moved(at))
            };
            let (start, end) = (place(&starts)?, place(&ends)?);
            let from = match self.what.from {
                From::Offset(offset) => offset,
                From::Time(_) => late.get(at).copied().flatten().unwrap_or(end),
                From::Earliest | From::Newest => start,
            };
            Ok(Reading::new((*at).clone(), wanted, start, from, end))
        };
        self.partitions.iter().map(reading).collect()
    }
}
