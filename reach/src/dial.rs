//! Opening a stream to a server whose addresses mean something in its own network alone.

use async_trait::async_trait;
use kafka::Endpoint;
use kafka::client::{BrokerKey, Dial, Stream, connect_tcp};
use model::Listeners;
use std::io;
use store::{Store, servers};

/// Goes where the server's row says that the control plane reaches it. TLS inside the stream
/// proves the server by the name that was asked for, so that equal addresses of two networks
/// can't be taken for each other.
pub struct RowDial {
    store: Store,
}

impl RowDial {
    pub fn new(store: Store) -> Self {
        Self { store }
    }

    async fn listeners(&self, broker: BrokerKey) -> Result<Option<Listeners>, store::Error> {
        let all = servers::list_bare(&mut self.store.reader(), broker.instance).await?;
        let server = all.into_iter().find(|server| server.node_id == broker.node_id);
        Ok(server.map(|server| server.listeners))
    }
}

/// Where the control plane goes for an endpoint of this server. Brokers themselves tell of
/// published ports, which are for customers.
fn way(listeners: &Listeners, endpoint: &Endpoint) -> Option<Endpoint> {
    let host = listeners.reached_at.clone()?;
    let port = match &listeners.published {
        Some(published) if endpoint.port == published.ssl => listeners.ssl.port,
        Some(published) if endpoint.port == published.sasl_scram => listeners.sasl_scram.port,
        _ => endpoint.port,
    };
    Some(Endpoint::new(host, port))
}

#[async_trait]
impl Dial for RowDial {
    async fn dial(&self, broker: BrokerKey, endpoint: &Endpoint) -> io::Result<Box<dyn Stream>> {
        let listeners = self.listeners(broker).await.map_err(io::Error::other)?;
        match listeners.and_then(|listeners| way(&listeners, endpoint)) {
            Some(way) if way.host.is_empty() => Err(io::Error::other("it is not made yet")),
            Some(way) => connect_tcp(&way).await,
            None => connect_tcp(endpoint).await,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::{Listener, Published};

    #[test]
    fn a_server_in_a_network_is_reached_by_its_alias() {
        let listener = |port| Listener {
            bind_host: "10.1.2.4".into(),
            advertised_host: "10.1.2.4".into(),
            port,
        };
        let published = Published {
            bind_host: "0.0.0.0".into(),
            advertised_host: "kafka.example.com".into(),
            ssl: 20001,
            sasl_scram: 20002,
        };
        let mut listeners = Listeners {
            plaintext: None,
            ssl: listener(9093),
            sasl_scram: listener(9094),
            internal: listener(9091),
            controller: listener(9090),
            metrics: None,
            reached_at: Some("100.64.3.4".into()),
            published: Some(published),
        };
        let check = |listeners: &Listeners, host: &str, port, expected: Option<&str>| {
            let found = way(listeners, &Endpoint::new(host.to_owned(), port));
            assert_eq!(found.map(|it| it.to_string()).as_deref(), expected, "{host}:{port}");
        };
        check(&listeners, "10.1.2.4", 9091, Some("100.64.3.4:9091"));
        check(&listeners, "kafka.example.com", 20001, Some("100.64.3.4:9093"));
        check(&listeners, "kafka.example.com", 20002, Some("100.64.3.4:9094"));
        listeners.published = None;
        check(&listeners, "10.1.2.4", 20002, Some("100.64.3.4:20002"));
        listeners.reached_at = None;
        check(&listeners, "10.1.2.4", 9091, None);
    }
}
