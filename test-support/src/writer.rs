//! A customer who never stops writing: numbered messages, each sent again until
//! every replica in sync has acknowledged it. What was acknowledged must be
//! there at the end.

use kafka::Endpoint;
use kafka::client::admin::produce::Produce;
use kafka::client::admin::topics::{CreateTopic, DescribeTopics};
use kafka::client::{Call, Connection, Error, Limits, Mechanism, sasl, tls};
use model::{Clock, Secret, SystemClock};
use rustls::ClientConfig;
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::watch;
use tokio::task::JoinHandle;

pub const TOPIC: &str = "never-stops";
/// Longer than any one of three servers may keep a partition from writers.
const PATIENCE: Duration = Duration::from_mins(1);

pub struct Writer {
    acknowledged: watch::Receiver<u64>,
    stop: watch::Sender<bool>,
    task: JoinHandle<()>,
}

struct Customer {
    /// By node id.
    brokers: BTreeMap<i32, Endpoint>,
    tls: Arc<ClientConfig>,
    username: String,
    password: Secret,
    /// Messages go to these in turn.
    partitions: i32,
}

impl Writer {
    pub async fn start(instance: &Value, details: &Value, partitions: i32) -> Self {
        let customer = Customer::new(instance, details, partitions);
        customer.make_topic().await;
        let (acked, acknowledged) = watch::channel(0);
        let (stop, stopped) = watch::channel(false);
        let task = tokio::spawn(async move {
            let mut number = 0;
            while !*stopped.borrow() {
                customer.write(number + 1).await;
                number += 1;
                acked.send_replace(number);
            }
        });
        Self { acknowledged, stop, task }
    }

    /// Waits until so many more messages were acknowledged than now.
    pub async fn goes_on(&mut self, more: u64) {
        let goal = *self.acknowledged.borrow() + more;
        let reached = self.acknowledged.wait_for(|number| *number >= goal);
        tokio::time::timeout(PATIENCE, reached).await.expect("writes go on").unwrap();
    }

    /// Ends it; the last number that was acknowledged.
    pub async fn stop(self) -> u64 {
        self.stop.send_replace(true);
        self.task.await.unwrap();
        *self.acknowledged.borrow()
    }
}

impl Customer {
    fn new(instance: &Value, details: &Value, partitions: i32) -> Self {
        let port = u16::try_from(details["connections"]["sasl_scram"]["port"].as_u64().unwrap());
        let servers = details["servers"].as_array().unwrap();
        let broker = |(number, server): (usize, &Value)| {
            let host = server["hostname"].as_str().unwrap();
            (i32::try_from(number + 1).unwrap(), Endpoint::new(host, port.unwrap()))
        };
        Self {
            brokers: servers.iter().enumerate().map(broker).collect(),
            tls: tls::client_config(instance["ca"].as_str().unwrap(), None).unwrap(),
            username: instance["username"].as_str().unwrap().to_owned(),
            password: Secret::new(instance["password"].as_str().unwrap()),
            partitions,
        }
    }

    async fn connect(&self, broker: &Endpoint) -> Result<Connection, Error> {
        let limits = Limits { call: Duration::from_secs(5), ..Limits::default() };
        let mut connection = Connection::open_tcp(broker, &self.tls, limits).await?;
        let mechanism = Mechanism::ScramSha512;
        sasl::log_in(&mut connection, &self.username, &self.password, mechanism).await?;
        Ok(connection)
    }

    async fn make_topic(&self) {
        let settings = [("min.insync.replicas".to_owned(), "2".to_owned())];
        let partitions = self.partitions;
        let topic = CreateTopic { name: TOPIC, partitions, replicas: 3, settings: &settings };
        let mut connection = self.connect(&self.brokers[&1]).await.unwrap();
        topic.run(&mut connection).await.unwrap();
    }

    /// Sends one number until it is acknowledged.
    async fn write(&self, number: u64) {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let error = match self.try_write(number).await {
                Ok(()) => return,
                Err(error) => error,
            };
            assert!(Instant::now() < deadline, "{number} is not acknowledged: {error}");
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }

    async fn try_write(&self, number: u64) -> Result<(), String> {
        let partition = i32::try_from(number % u64::from(self.partitions.unsigned_abs()))
            .expect("it is less than the partitions");
        let leader = self.leader(partition).await.ok_or("no leader is known")?;
        let mut connection = self.connect(&leader).await.map_err(|error| error.to_string())?;
        let value = number.to_string();
        let message =
            Produce { topic: TOPIC, partition, value: value.as_bytes(), at: SystemClock.now() };
        message.run(&mut connection).await.map(drop).map_err(|error| error.to_string())
    }

    /// Asked of whoever answers.
    async fn leader(&self, partition: i32) -> Option<Endpoint> {
        for broker in self.brokers.values() {
            let Ok(mut connection) = self.connect(broker).await else { continue };
            let names = [TOPIC.to_owned()];
            let Ok(topics) = (DescribeTopics { names: Some(&names) }).run(&mut connection).await
            else {
                continue;
            };
            let mut partitions = topics.iter().flat_map(|topic| &topic.partitions);
            let leader = partitions.find(|view| view.index == partition).and_then(|it| it.leader);
            if let Some(leader) = leader.and_then(|id| self.brokers.get(&id)) {
                return Some(leader.clone());
            }
        }
        None
    }
}
