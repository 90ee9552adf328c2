//! A server: the place where one broker runs.

use crate::{HostId, InstanceId, KafkaVersion, ServerId, Timestamp};
use serde::{Deserialize, Serialize};
use std::fmt;

/// What a Kafka node does. Roles are data: any server may carry either.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ServerRole {
    Broker,
    Controller,
}

impl fmt::Display for ServerRole {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            ServerRole::Broker => "broker",
            ServerRole::Controller => "controller",
        })
    }
}

/// Where a listener is bound, and what clients are told.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub struct Listener {
    pub bind_host: String,
    pub advertised_host: String,
    pub port: u16,
}

/// The five listeners of a server. Nothing else assumes ports or an address
/// pattern.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub struct Listeners {
    pub plaintext: Listener,
    pub ssl: Listener,
    pub sasl_scram: Listener,
    /// Brokers and the control plane, with certificates of the internal CA.
    pub internal: Listener,
    /// The Raft quorum, with certificates of the internal CA.
    pub controller: Listener,
}

impl Listeners {
    pub fn all(&self) -> [&Listener; 5] {
        [&self.plaintext, &self.ssl, &self.sasl_scram, &self.internal, &self.controller]
    }
}

/// A server's row: what was chosen for it and how far it has come. What its
/// agent last reported and should do are documents of their own.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Server {
    pub id: ServerId,
    pub instance_id: InstanceId,
    /// 1, 2, 3 … within the instance.
    pub number: u32,
    /// Kafka's node id; never reused within the instance.
    pub node_id: i32,
    /// Raised when the server is replaced; an older agent is not obeyed.
    pub incarnation: i64,
    pub roles: Vec<ServerRole>,
    pub name: String,
    pub kafka_version: KafkaVersion,
    pub host_id: HostId,
    pub zone: String,
    pub private_ip: String,
    pub listeners: Listeners,
    /// Whether the cloud has said that the server exists.
    pub made: bool,
    /// The agent has a certificate since then.
    pub enrolled_at: Option<Timestamp>,
    pub last_seen: Option<Timestamp>,
    /// Raised to ask the agent for new keys and certificates.
    pub certificate_generation: i64,
}

impl Server {
    pub fn is_controller(&self) -> bool {
        self.roles.contains(&ServerRole::Controller)
    }

    pub fn is_broker(&self) -> bool {
        self.roles.contains(&ServerRole::Broker)
    }
}
