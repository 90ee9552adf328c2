//! A server: the place where one broker runs.

mod membership;
mod state;
mod wanted;

pub use membership::Membership;
pub use state::ServerState;
pub use wanted::Wanted;

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

/// The listeners of a server. Nothing else assumes ports or an address
/// pattern.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub struct Listeners {
    /// Without encryption or login; only where others than this host can't reach it,
    /// or the operator wants it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plaintext: Option<Listener>,
    pub ssl: Listener,
    pub sasl_scram: Listener,
    /// Brokers and the control plane, with certificates of the internal CA.
    pub internal: Listener,
    /// The Raft quorum, with certificates of the internal CA.
    pub controller: Listener,
    /// Where this host alone reads the broker's metrics, by plain HTTP. Servers
    /// made before there were metrics have none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metrics: Option<Listener>,
    /// Where the control plane reaches a server whose addresses mean something in its own
    /// network alone, and which nothing else on its host has; empty until that server is made.
    /// None: at those addresses.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reached_at: Option<String>,
    /// Where clients outside of the server's network reach it, if they may. None: at the
    /// listeners themselves.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub published: Option<Published>,
}

/// Ports of a server's host that lead to its listeners.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub struct Published {
    pub bind_host: String,
    pub advertised_host: String,
    pub ssl: u16,
    pub sasl_scram: u16,
}

impl Listeners {
    pub fn all(&self) -> impl Iterator<Item = &Listener> {
        let always = [&self.ssl, &self.sasl_scram, &self.internal, &self.controller];
        self.plaintext.iter().chain(always).chain(&self.metrics)
    }

    /// Where customers with a certificate are told to go.
    pub fn public_ssl(&self) -> Listener {
        self.public(&self.ssl, |published| published.ssl)
    }

    /// Where customers with a password are told to go.
    pub fn public_sasl_scram(&self) -> Listener {
        self.public(&self.sasl_scram, |published| published.sasl_scram)
    }

    fn public(&self, own: &Listener, port: fn(&Published) -> u16) -> Listener {
        self.published.as_ref().map_or_else(
            || own.clone(),
            |published| Listener {
                bind_host: published.bind_host.clone(),
                advertised_host: published.advertised_host.clone(),
                port: port(published),
            },
        )
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
    /// Counts the identities of the server's agent. Raised to revoke the present one; the
    /// broker goes on.
    pub incarnation: i64,
    pub roles: Vec<ServerRole>,
    pub name: String,
    pub kafka_version: KafkaVersion,
    pub host_id: HostId,
    pub zone: String,
    pub private_ip: String,
    pub listeners: Listeners,
    pub state: ServerState,
    pub membership: Membership,
    /// The agent has a certificate since then.
    pub enrolled_at: Option<Timestamp>,
    pub last_seen: Option<Timestamp>,
    /// Raised to ask the agent for new keys and certificates.
    pub certificate_generation: i64,
    pub wanted: Wanted,
}

impl Server {
    pub fn is_controller(&self) -> bool {
        self.roles.contains(&ServerRole::Controller)
    }

    pub fn is_leaving(&self) -> bool {
        self.membership == Membership::Leaving
    }

    pub fn is_broker(&self) -> bool {
        self.roles.contains(&ServerRole::Broker)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listener(port: u16) -> Listener {
        Listener { bind_host: "h".into(), advertised_host: "h".into(), port }
    }

    #[test]
    fn a_row_from_before_there_were_metrics_stays_as_it_is() {
        let old = Listeners {
            plaintext: Some(listener(1)),
            ssl: listener(2),
            sasl_scram: listener(3),
            internal: listener(4),
            controller: listener(5),
            metrics: None,
            reached_at: None,
            published: None,
        };
        let text = serde_json::to_string(&old).unwrap();
        for later in ["metrics", "reached_at", "published"] {
            assert!(!text.contains(later), "{text}");
        }
        assert_eq!(serde_json::from_str::<Listeners>(&text).unwrap(), old);
        let new = Listeners { metrics: Some(listener(6)), ..old };
        assert_eq!(new.all().map(|listener| listener.port).collect::<Vec<_>>(), [1, 2, 3, 4, 5, 6]);
    }

    #[test]
    fn customers_are_told_the_published_ports() {
        let published = Published {
            bind_host: "0.0.0.0".into(),
            advertised_host: "kafka.example.com".into(),
            ssl: 20001,
            sasl_scram: 20002,
        };
        let own = Listeners {
            plaintext: None,
            ssl: listener(9093),
            sasl_scram: listener(9094),
            internal: listener(9091),
            controller: listener(9090),
            metrics: None,
            reached_at: None,
            published: None,
        };
        let told = |listeners: &Listeners| {
            [listeners.public_ssl(), listeners.public_sasl_scram()]
                .map(|it| format!("{}:{}", it.advertised_host, it.port))
        };
        assert_eq!(told(&own), ["h:9093", "h:9094"]);
        let both = Listeners { published: Some(published), ..own };
        assert_eq!(told(&both), ["kafka.example.com:20001", "kafka.example.com:20002"]);
    }
}
