//! The client that writes first: our own, the same on both sides, so that what
//! is measured is the broker. It makes a topic with a replica on every server
//! and writes one message that all replicas in sync must acknowledge. Another topic
//! it fills.

use anyhow::{Context, Result};
use kafka::Endpoint;
use kafka::client::admin::cluster::DescribeCluster;
use kafka::client::admin::produce::Produce;
use kafka::client::admin::quorum::DescribeQuorum;
use kafka::client::admin::topics::{CreateTopic, DescribeTopics};
use kafka::client::{Call, Connection, Limits, Login, connect_tcp, sasl, tls};
use model::{Clock, SystemClock};
use std::time::{Duration, Instant};

const PATIENCE: Duration = Duration::from_mins(1);
const PAUSE: Duration = Duration::from_millis(5);
/// Of what a topic is filled with.
static PIECE: [u8; 500_000] = [7; 500_000];

/// What is written: which topic, on how many servers.
#[derive(Clone, Copy)]
pub struct Write<'a> {
    pub topic: &'a str,
    pub replicas: i16,
}

/// A topic of one replica that is filled.
#[derive(Clone, Copy)]
pub struct Fill<'a> {
    pub topic: &'a str,
    pub partitions: i32,
    /// All partitions together.
    pub megabytes: u32,
}

/// Over plaintext, to stock Kafka; tries until it is taken.
pub async fn write_plain(brokers: &[Endpoint], write: Write<'_>) -> Result<()> {
    let open = async |broker: &Endpoint| {
        let stream = connect_tcp(broker).await?;
        Ok(Connection::negotiate(stream, broker.clone(), Limits::default()).await?)
    };
    until_taken(async || write.once(brokers, &open).await).await
}

/// Over TLS and SCRAM, as a customer.
pub async fn write_secured(login: &Login, write: Write<'_>) -> Result<()> {
    let open = async |broker: &Endpoint| open(login, broker).await;
    let brokers: Vec<Endpoint> = login.brokers.iter().map(|it| it.endpoint.clone()).collect();
    until_taken(async || write.once(&brokers, &open).await).await
}

/// The node of the active controller.
pub async fn active_controller(login: &Login) -> Result<i32> {
    let mut connection = open_first(login).await?;
    let quorum = DescribeQuorum.run(&mut connection).await?;
    quorum.leader.context("a controller is active")
}

/// As a customer, in a cluster of one server.
pub async fn fill_secured(login: &Login, fill: Fill<'_>) -> Result<()> {
    let Fill { topic, partitions, megabytes } = fill;
    let mut connection = open_first(login).await?;
    let new = CreateTopic { name: topic, partitions, replicas: 1, settings: &[] };
    new.run(&mut connection).await?;
    until_taken(async || {
        let mut connection = open_first(login).await?;
        for partition in 0..partitions {
            piece(topic, partition).run(&mut connection).await?;
        }
        Ok(())
    })
    .await?;
    let pieces = u64::from(megabytes) * 1_000_000 / PIECE.len() as u64;
    for (_, partition) in (0..pieces).zip((0..partitions).cycle()) {
        piece(topic, partition).run(&mut connection).await?;
    }
    Ok(())
}

fn piece(topic: &str, partition: i32) -> Produce<'_> {
    Produce { topic, partition, value: &PIECE, at: SystemClock.now() }
}

async fn open_first(login: &Login) -> Result<Connection> {
    open(login, &login.brokers.first().context("a broker")?.endpoint).await
}

async fn open(login: &Login, broker: &Endpoint) -> Result<Connection> {
    let tls = tls::client_config(&login.trust_pem, None)?;
    let mut connection = Connection::open_tcp(broker, &tls, Limits::default()).await?;
    sasl::log_in(&mut connection, &login.username, &login.password, login.mechanism).await?;
    Ok(connection)
}

impl Write<'_> {
    async fn once(
        self,
        brokers: &[Endpoint],
        open: &impl AsyncFn(&Endpoint) -> Result<Connection>,
    ) -> Result<()> {
        let mut connection = open(&brokers[0]).await?;
        let topic =
            CreateTopic { name: self.topic, partitions: 1, replicas: self.replicas, settings: &[] };
        topic.run(&mut connection).await?;
        let leader = self.leader(&mut connection).await?;
        if leader != *connection.endpoint() {
            connection = open(&leader).await?;
        }
        let at = SystemClock.now();
        Produce { topic: self.topic, partition: 0, value: b"first", at }
            .run(&mut connection)
            .await?;
        Ok(())
    }

    async fn leader(self, connection: &mut Connection) -> Result<Endpoint> {
        let topics =
            DescribeTopics { names: Some(&[self.topic.to_owned()]) }.run(connection).await?;
        let leader = topics[0].partitions[0].leader.context("the partition has no leader yet")?;
        let cluster = DescribeCluster.run(connection).await?;
        let found = cluster.brokers.into_iter().find(|broker| broker.id == leader);
        Ok(found.context("the leader is not registered")?.endpoint)
    }
}

async fn until_taken(attempt: impl AsyncFn() -> Result<()>) -> Result<()> {
    let deadline = Instant::now() + PATIENCE;
    while let Err(reason) = attempt().await {
        if Instant::now() > deadline {
            return Err(reason.context("nothing could be written"));
        }
        tokio::time::sleep(PAUSE).await;
    }
    Ok(())
}
