//! One instance with everything a customer may know of it.

use crate::details::{self, Details};
use crate::{App, Caller, InstanceAccess, Need, Result, ca};
use model::{InstanceId, Secret, Server};

/// Details, authority and connection texts. Where the caller is a monitor, the
/// details come masked and the texts made of them hold no password.
#[derive(Clone, Debug)]
pub struct InstanceView {
    pub details: Details,
    pub ca: String,
    pub url: Secret,
    /// Comma-separated `host:port` of the SASL/SCRAM listeners.
    pub brokers: String,
}

pub async fn read(caller: &Caller, app: &App, id: Option<InstanceId>) -> Result<InstanceView> {
    let access = InstanceAccess::of_caller(caller, app, id, Need::See).await?;
    let details = details::read(&access, app).await?;
    let ca = ca::certificate(&access, app).await?;
    let url = url(&details);
    let brokers = brokers(&details.servers);
    Ok(InstanceView { details, ca, url, brokers })
}

/// `kafka://<username>:<password>@<hostname>:<port>/`; without a password
/// where it is masked.
fn url(details: &Details) -> Secret {
    let instance = &details.instance;
    let port = details.first_server().listeners.sasl_scram.port;
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
        .filter(|server| server.is_broker())
        .map(|server| &server.listeners.sasl_scram)
        .map(|listener| format!("{}:{}", listener.advertised_host, listener.port))
        .collect();
    addresses.join(",")
}
