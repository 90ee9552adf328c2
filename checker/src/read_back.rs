//! Reads every replica's copy of a topic, each from its own broker.
//!
//! The leader's copy is read first, and tells how far the others must come: a
//! follower hears a moment later how far the log is safe. One that does not come
//! so far, or does not answer, is told as it is; the judge says what that means.

use crate::connect::connect;
use crate::logs::{Entry, Logs, Marked, ReplicaLog};
use crate::{Access, Run, Text, record};
use kafka::Endpoint;
use kafka::client::admin::cluster::DescribeCluster;
use kafka::client::admin::copy::{CopyStart, FetchCopy};
use kafka::client::admin::topics::DescribeTopics;
use kafka::client::{Call, Connection, Contents, CopiedRecord, Error, PartitionView, Remedy};
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// For one replica to answer, and to have what its leader has.
const PATIENCE: Duration = Duration::from_secs(30);
const PAUSE: Duration = Duration::from_millis(100);

/// Everything that the brokers have of a run's topic.
pub async fn read_back(access: &Access, run: &Run) -> Result<Logs, Error> {
    let (brokers, partitions) = layout(access, &run.topic).await?;
    let mut logs = Logs { topic: run.topic.clone(), partitions: BTreeMap::new() };
    for partition in partitions {
        let reader = Reader { access, run, brokers: &brokers, partition: partition.index };
        logs.partitions.insert(partition.index, reader.replicas(&partition).await);
    }
    Ok(logs)
}

/// Where the brokers are and where the partitions; asked until every partition
/// has a leader.
async fn layout(
    access: &Access,
    topic: &str,
) -> Result<(BTreeMap<i32, Endpoint>, Vec<PartitionView>), Error> {
    let deadline = Instant::now() + PATIENCE;
    loop {
        let seen = look(access, topic).await;
        match seen {
            Ok((brokers, partitions))
                if !partitions.is_empty() && partitions.iter().all(|it| it.leader.is_some()) =>
            {
                return Ok((brokers, partitions));
            }
            Err(error) if error.remedy() == Remedy::Refused => return Err(error),
            seen if Instant::now() > deadline => return seen,
            _ => tokio::time::sleep(PAUSE).await,
        }
    }
}

async fn look(
    access: &Access,
    topic: &str,
) -> Result<(BTreeMap<i32, Endpoint>, Vec<PartitionView>), Error> {
    let mut connection = access.any().await?;
    let cluster = DescribeCluster.run(&mut connection).await?;
    let topics = DescribeTopics { names: Some(&[topic.to_owned()]) }.run(&mut connection).await?;
    let brokers = cluster.brokers.into_iter().map(|broker| (broker.id, broker.endpoint)).collect();
    Ok((brokers, topics.into_iter().flat_map(|topic| topic.partitions).collect()))
}

struct Reader<'a> {
    access: &'a Access,
    run: &'a Run,
    brokers: &'a BTreeMap<i32, Endpoint>,
    partition: i32,
}

impl Reader<'_> {
    async fn replicas(&self, view: &PartitionView) -> Vec<ReplicaLog> {
        let mut order = view.replicas.clone();
        order.sort_by_key(|broker| Some(*broker) != view.leader);
        let mut logs: Vec<ReplicaLog> = Vec::with_capacity(order.len());
        for broker in order {
            let goal = logs.first().filter(|log| log.leader).map(|log| log.end);
            let mut log = ReplicaLog {
                broker,
                leader: Some(broker) == view.leader,
                start: 0,
                end: 0,
                entries: Vec::new(),
                unread: None,
            };
            self.read(&mut log, goal).await;
            logs.push(log);
        }
        logs
    }

    /// Reads until the copy's end, and at least as far as the goal if it comes
    /// there in time.
    async fn read(&self, log: &mut ReplicaLog, goal: Option<i64>) {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let error = match self.read_on(log, goal, deadline).await {
                Ok(()) => return,
                Err(error) => error,
            };
            if error.remedy() == Remedy::Refused || Instant::now() > deadline {
                log.unread = Some(error.to_string());
                return;
            }
            tokio::time::sleep(PAUSE).await;
        }
    }

    async fn read_on(
        &self,
        log: &mut ReplicaLog,
        goal: Option<i64>,
        deadline: Instant,
    ) -> Result<(), Error> {
        let mut connection = self.broker(log.broker).await?;
        let (topic, partition) = (self.run.topic.as_str(), self.partition);
        if log.entries.is_empty() {
            log.start = CopyStart { topic, partition }.run(&mut connection).await?;
        }
        loop {
            let offset = log.entries.last().map_or(log.start, |entry| entry.offset + 1);
            let copied = FetchCopy { topic, partition, offset }.run(&mut connection).await?;
            log.entries.extend(copied.records.iter().map(|record| self.entry(record)));
            let next = log.entries.last().map_or(log.start, |entry| entry.offset + 1);
            log.end = copied.high_watermark.max(next);
            let behind = goal.is_some_and(|goal| next < goal);
            if next == log.end && (!behind || Instant::now() > deadline) {
                return Ok(());
            }
        }
    }

    async fn broker(&self, id: i32) -> Result<Connection, Error> {
        match self.brokers.get(&id) {
            Some(endpoint) => connect(self.access, endpoint).await,
            None => Err(Error::NoBrokers),
        }
    }

    fn entry(&self, record: &CopiedRecord) -> Entry {
        let CopiedRecord { offset, producer, transactional, contents } = record;
        let what = match contents {
            Contents::Data(Some(value)) => Marked::Data(record::read(&self.run.id, value)),
            Contents::Data(None) => Marked::Data(Text::Stranger),
            Contents::Commit => Marked::Commit,
            Contents::Abort => Marked::Abort,
            Contents::OtherMark => Marked::Other,
        };
        Entry { offset: *offset, producer: *producer, transactional: *transactional, what }
    }
}
