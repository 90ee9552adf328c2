//! One instance with everything a customer may know of it.

use crate::details::Details;
use crate::{App, Caller, Error, Result, Right};
use bytes::Bytes;
use model::{InstanceId, Secret, Server};
use std::sync::{Arc, OnceLock};
use store::{authorities, instances};

/// Details, authority and connection texts.
#[derive(Clone, Debug)]
pub struct InstanceView {
    pub details: Details,
    pub ca: String,
    pub url: Secret,
    /// Comma-separated `host:port` of the SASL/SCRAM listeners.
    pub brokers: String,
    /// What an API answers with, made from all of this by the first who asks.
    pub document: OnceLock<Bytes>,
}

/// Where the caller is a monitor, it holds no secrets.
pub async fn read(caller: &Caller, app: &App, id: Option<InstanceId>) -> Result<Arc<InstanceView>> {
    caller.may(Right::SeeInstances)?;
    let id = id.ok_or(Error::InvalidId)?;
    let view = app
        .views
        .get_or_make(app.store(), caller.moment, id, || InstanceView::read(app, id))
        .await?;
    if !caller.sees(&view.details.instance) {
        return Err(Error::InvalidId);
    }
    Ok(if caller.masked() { Arc::new(view.masked()) } else { view })
}

impl InstanceView {
    async fn read(app: &App, id: InstanceId) -> Result<Self> {
        let mut reader = app.store().reader();
        let instance = instances::find(&mut reader, id).await?.ok_or(Error::InvalidId)?;
        let details = Details::read(&mut reader, instance).await?;
        let ca = authorities::customers_root(&mut reader, id).await?.ok_or(Error::InvalidId)?;
        Ok(Self::new(details, ca))
    }

    fn new(details: Details, ca: String) -> Self {
        let (url, brokers) = (url(&details), brokers(&details.servers));
        Self { details, ca, url, brokers, document: OnceLock::new() }
    }

    fn masked(&self) -> Self {
        Self::new(self.details.clone().masked(), self.ca.clone())
    }
}

/// `kafka://<username>:<password>@<hostname>:<port>/`; without a password
/// where it is masked.
fn url(details: &Details) -> Secret {
    let instance = &details.instance;
    let port = details.first_server().listeners.public_sasl_scram().port;
    connection_url(&instance.username, &instance.password, &instance.hostname, port)
}

pub(super) fn connection_url(
    username: &str,
    password: &Secret,
    hostname: &str,
    port: u16,
) -> Secret {
    let user = match password.expose() {
        "" => username.to_owned(),
        password => format!("{username}:{password}"),
    };
    Secret::new(format!("kafka://{user}@{hostname}:{port}/"))
}

fn brokers(servers: &[Server]) -> String {
    let addresses: Vec<String> = servers
        .iter()
        // Clients that begin now shall not rely on one that leaves.
        .filter(|server| server.is_broker() && !server.is_leaving())
        .map(|server| server.listeners.public_sasl_scram())
        .map(|listener| format!("{}:{}", listener.advertised_host, listener.port))
        .collect();
    addresses.join(",")
}
