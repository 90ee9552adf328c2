//! Our own connections to a cluster: for its layout, its topic and its copies.
//! What is written goes through real clients.

use crate::{Access, Auth};
use kafka::Endpoint;
use kafka::client::{Connection, Error, Limits, Stream, connect_tcp, sasl, tls};

/// Logged in on that broker.
pub async fn connect(access: &Access, broker: &Endpoint) -> Result<Connection, Error> {
    let limits = Limits::default();
    let (trust, identity) = match &access.auth {
        Auth::Plaintext | Auth::Scram { ca_pem: None, .. } => (None, None),
        Auth::Tls { ca_pem, identity } => (Some(ca_pem), identity.as_ref()),
        Auth::Scram { ca_pem: Some(ca_pem), .. } => (Some(ca_pem), None),
    };
    let mut connection = if let Some(ca_pem) = trust {
        let config = tls::client_config(ca_pem, identity)?;
        Connection::open_tcp(broker, &config, limits).await?
    } else {
        Connection::negotiate(dial(broker, limits).await?, broker.clone(), limits).await?
    };
    if let Auth::Scram { username, password, mechanism, .. } = &access.auth {
        sasl::log_in(&mut connection, username, password, *mechanism).await?;
    }
    Ok(connection)
}

/// Without TLS.
async fn dial(broker: &Endpoint, limits: Limits) -> Result<Box<dyn Stream>, Error> {
    let dialled = tokio::time::timeout(limits.connect, connect_tcp(broker)).await;
    let reason = match dialled {
        Ok(Ok(stream)) => return Ok(stream),
        Ok(Err(error)) => format!("could not be reached: {error}"),
        Err(_) => format!("did not accept a connection within {:?}", limits.connect),
    };
    Err(Error::Unreachable { endpoint: broker.clone(), reason })
}

impl Access {
    /// Logged in on the first broker that answers.
    pub(crate) async fn any(&self) -> Result<Connection, Error> {
        let mut last = Error::NoBrokers;
        for broker in &self.brokers {
            match connect(self, broker).await {
                Ok(connection) => return Ok(connection),
                Err(error) => last = error,
            }
        }
        Err(last)
    }
}
