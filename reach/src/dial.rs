//! Opening a stream to a server whose addresses mean something in its own network alone.

use async_trait::async_trait;
use kafka::Endpoint;
use kafka::client::{BrokerKey, Dial, Stream, connect_tcp};
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

    async fn reached_at(&self, broker: BrokerKey) -> Result<Option<String>, store::Error> {
        let all = servers::list_bare(&mut self.store.reader(), broker.instance).await?;
        let server = all.into_iter().find(|server| server.node_id == broker.node_id);
        Ok(server.and_then(|server| server.listeners.reached_at))
    }
}

#[async_trait]
impl Dial for RowDial {
    async fn dial(&self, broker: BrokerKey, endpoint: &Endpoint) -> io::Result<Box<dyn Stream>> {
        match self.reached_at(broker).await.map_err(io::Error::other)? {
            Some(host) => connect_tcp(&Endpoint::new(host, endpoint.port)).await,
            None => connect_tcp(endpoint).await,
        }
    }
}
