//! A host and a port.

use model::Listener;
use serde::{Deserialize, Serialize};
use std::fmt;

/// Where a listener is reached. The host is a name or an IP address, and is
/// what the broker's certificate must hold.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub struct Endpoint {
    pub host: String,
    pub port: u16,
}

impl Endpoint {
    pub fn new(host: impl Into<String>, port: u16) -> Self {
        Self { host: host.into(), port }
    }
}

impl From<&Listener> for Endpoint {
    /// Where clients of this listener go.
    fn from(listener: &Listener) -> Self {
        Self::new(listener.advertised_host.clone(), listener.port)
    }
}

impl fmt::Display for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.host.contains(':') {
            write!(f, "[{}]:{}", self.host, self.port)
        } else {
            write!(f, "{}:{}", self.host, self.port)
        }
    }
}
