//! What Kafka itself says of a cluster that changes, to a customer.

use crate::cluster::Cluster;
use checker::{Access, Auth};
use host::ProcessId;
use kafka::client::admin::quorum::DescribeQuorum;
use kafka::client::admin::replication::DescribeReplication;
use kafka::client::{Call, Connection, Error, Limits, TopicReplication, sasl, tls};
use std::fs;

impl Cluster {
    /// Of every topic, the internal ones too, by one broker after the other until one answers.
    pub async fn replication(&self) -> Vec<TopicReplication> {
        self.ask_kafka(&DescribeReplication).await
    }

    /// The broker beside the active controller, if one is active.
    pub async fn active_broker(&self) -> Option<ProcessId> {
        let node = self.ask_kafka(&DescribeQuorum).await.leader?;
        let line = format!("node.id={node}");
        let servers = self.castellan.server_dirs();
        let its = servers.iter().find(|server| {
            let properties = fs::read_to_string(server.join("server.properties"));
            properties.is_ok_and(|text| text.lines().any(|it| it == line))
        });
        ProcessId::load(&its?.join("run/broker.pid"))
    }

    async fn ask_kafka<C: Call>(&self, call: &C) -> C::Answer {
        let Access { brokers, auth } = self.access().await;
        let Auth::Scram { ca_pem: Some(trust), username, password, mechanism } = auth else {
            panic!("customers log in with a password")
        };
        let tls = tls::client_config(&trust, None).unwrap();
        let ask = async |broker| -> Result<C::Answer, Error> {
            let mut connection = Connection::open_tcp(broker, &tls, Limits::default()).await?;
            sasl::log_in(&mut connection, &username, &password, mechanism).await?;
            call.run(&mut connection).await
        };
        let attempt = async || {
            let mut last = String::new();
            for broker in &brokers {
                match ask(broker).await {
                    Ok(answer) => return Ok(answer),
                    Err(error) => last = error.to_string(),
                }
            }
            Err(last)
        };
        self.castellan.until("a broker answers a customer", attempt).await
    }
}
