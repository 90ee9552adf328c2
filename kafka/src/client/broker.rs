//! Which broker is meant, apart from where it listens: two networks may have the same
//! addresses, so nothing is looked up by address alone.

use crate::Endpoint;
use model::{InstanceId, Listener, Server};
use std::fmt;

/// A broker of an instance. Kafka's node id is never reused within the instance.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct BrokerKey {
    pub instance: InstanceId,
    pub node_id: i32,
}

/// A broker of a cluster, and where its listener is reached.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Broker {
    pub node_id: i32,
    pub endpoint: Endpoint,
}

impl Broker {
    pub fn new(node_id: i32, endpoint: Endpoint) -> Self {
        Self { node_id, endpoint }
    }

    /// On its internal listener.
    pub fn internal(server: &Server) -> Self {
        Self::at(server, &server.listeners.internal)
    }

    /// Where customers log in with a password.
    pub fn sasl_scram(server: &Server) -> Self {
        Self::at(server, &server.listeners.sasl_scram)
    }

    fn at(server: &Server, listener: &Listener) -> Self {
        Self::new(server.node_id, listener.into())
    }

    pub fn key(&self, instance: InstanceId) -> BrokerKey {
        BrokerKey { instance, node_id: self.node_id }
    }
}

impl fmt::Display for Broker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.endpoint.fmt(f)
    }
}
