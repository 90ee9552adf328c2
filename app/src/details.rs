//! How to connect to an instance.

use crate::{App, Error, InstanceAccess, Result};
use model::{Instance, Membership, Secret, Server, Vpc};
use store::{Run, servers, vpcs};

/// Everything a client needs to connect. Known from the moment of create.
#[derive(Clone, Debug)]
pub struct Details {
    pub instance: Instance,
    pub vpc: Vpc,
    /// By number, without those that are being added; there is always a first one, which
    /// never leaves.
    pub servers: Vec<Server>,
}

pub async fn read(access: &InstanceAccess, app: &App) -> Result<Details> {
    let details = Details::read(&mut app.store().reader(), access.instance.clone()).await?;
    Ok(if access.masked { details.masked() } else { details })
}

impl Details {
    /// Network and servers are written together with the instance: where they are
    /// missing, it was torn down since it was read.
    pub(crate) async fn read(run: &mut impl Run, instance: Instance) -> Result<Self> {
        let vpc = vpcs::find(run, instance.vpc_id).await?.ok_or(Error::InvalidId)?;
        let mut servers = servers::list_bare(run, instance.id).await?;
        // One that is being added is none that clients can use yet.
        servers.retain(|server| server.membership != Membership::Joining);
        if servers.is_empty() {
            return Err(Error::InvalidId);
        }
        Ok(Self { instance, vpc, servers })
    }

    /// The server whose ports and address stand for the cluster.
    pub fn first_server(&self) -> &Server {
        &self.servers[0]
    }

    #[must_use]
    pub(crate) fn masked(mut self) -> Self {
        self.instance.password = Secret::new("");
        self.instance.apikey = Secret::new("");
        self
    }
}
