//! The client that writes first: our own, the same on both sides, so that what
//! is measured is the broker. It makes a topic with a replica on every server
//! and writes one message that all replicas in sync must acknowledge.

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

/// What is written: which topic, on how many servers.
#[derive(Clone, Copy)]
pub struct Write<'a> {
    pub topic: &'a str,
    pub replicas: i16,
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
    let tls = tls::client_config(&login.trust_pem, None)?;
    let open = async |broker: &Endpoint| {
        let mut connection = Connection::open_tcp(broker, &tls, Limits::default()).await?;
        sasl::log_in(&mut connection, &login.username, &login.password, login.mechanism).await?;
        Ok(connection)
    };
    let brokers: Vec<Endpoint> = login.brokers.iter().map(|it| it.endpoint.clone()).collect();
    until_taken(async || write.once(&brokers, &open).await).await
}

/// The node of the active controller.
pub async fn active_controller(login: &Login) -> Result<i32> {
    let tls = tls::client_config(&login.trust_pem, None)?;
    let broker = &login.brokers.first().context("a broker")?.endpoint;
    let mut connection = Connection::open_tcp(broker, &tls, Limits::default()).await?;
    sasl::log_in(&mut connection, &login.username, &login.password, login.mechanism).await?;
    let quorum = DescribeQuorum.run(&mut connection).await?;
    quorum.leader.context("a controller is active")
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
