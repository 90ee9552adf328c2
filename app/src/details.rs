//! How to connect to an instance.

use crate::{App, Error, InstanceAccess, Result};
use model::{Instance, Secret, Server, Vpc};
use store::{servers, vpcs};

/// Everything a client needs to connect. Known from the moment of create.
#[derive(Clone, Debug)]
pub struct Details {
    pub instance: Instance,
    pub vpc: Vpc,
    /// By number; there is always a first one.
    pub servers: Vec<Server>,
}

/// Network and servers are written together with the instance: where they are
/// missing, it was torn down since the caller was let in.
pub async fn read(access: &InstanceAccess, app: &App) -> Result<Details> {
    let mut reader = app.store().reader();
    let vpc = vpcs::find(&mut reader, access.instance.vpc_id).await?.ok_or(Error::InvalidId)?;
    let servers = servers::list_bare(&mut reader, access.instance.id).await?;
    if servers.is_empty() {
        return Err(Error::InvalidId);
    }
    let details = Details { instance: access.instance.clone(), vpc, servers };
    Ok(if access.masked { details.masked() } else { details })
}

impl Details {
    /// The server whose ports and address stand for the cluster.
    pub fn first_server(&self) -> &Server {
        &self.servers[0]
    }

    #[must_use]
    fn masked(mut self) -> Self {
        self.instance.password = Secret::new("");
        self.instance.apikey = Secret::new("");
        self
    }
}
