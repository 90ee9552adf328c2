//! The client that writes first: our own, the same on both sides, so that what
//! is measured is the broker. It makes a topic and writes one message that all
//! replicas in sync must acknowledge.

use anyhow::Result;
use kafka::Endpoint;
use kafka::client::admin::produce::Produce;
use kafka::client::admin::topics::CreateTopic;
use kafka::client::{Call, Connection, Dial, DirectDial, Limits, Login, sasl, tls};
use model::{Clock, SystemClock};
use std::time::{Duration, Instant};

const TOPIC: &str = "first";
const PATIENCE: Duration = Duration::from_mins(1);
const PAUSE: Duration = Duration::from_millis(5);

/// Over plaintext, to stock Kafka; tries until it is taken.
pub async fn write_plain(endpoint: &Endpoint) -> Result<()> {
    until_taken(async || {
        let stream = DirectDial.dial(endpoint).await?;
        write(Connection::negotiate(stream, endpoint.clone(), Limits::default()).await?).await
    })
    .await
}

/// Over TLS and SCRAM, as a customer.
pub async fn write_secured(login: &Login) -> Result<()> {
    let tls = tls::client_config(&login.trust_pem, None)?;
    until_taken(async || {
        let broker = &login.brokers[0];
        let mut connection = Connection::open(&DirectDial, broker, &tls, Limits::default()).await?;
        sasl::log_in(&mut connection, &login.username, &login.password, login.mechanism).await?;
        write(connection).await
    })
    .await
}

async fn write(mut connection: Connection) -> Result<()> {
    let topic = CreateTopic { name: TOPIC, partitions: 1, replicas: 1, settings: &[] };
    topic.run(&mut connection).await?;
    let message = Produce { topic: TOPIC, partition: 0, value: b"first", at: SystemClock.now() };
    message.run(&mut connection).await?;
    Ok(())
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
