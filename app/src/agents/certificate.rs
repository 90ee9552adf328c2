//! Agents' certificates, signed by the fleet's authority.

use super::Agent;
use super::authenticate::common_name;
use crate::{App, Error, Result};
use model::{ServerId, SignedDuration};
use pki::{Authority, Leaf, Request, Usage};

const LIFE: SignedDuration = SignedDuration::from_hours(24 * 30);

/// A new certificate for the agent's key, old or new.
pub async fn renew(agent: &Agent, app: &App, csr: &str) -> Result<String> {
    agent.record(&mut app.store().reader()).await?;
    issue(app, parse(csr)?, agent.server_id, agent.incarnation)
}

pub(super) fn parse(csr: &str) -> Result<Request> {
    Request::parse(csr).map_err(|error| Error::field("csr", error.to_string()))
}

/// Signs for server and incarnation; from the request only the key is taken.
pub(super) fn issue(
    app: &App,
    request: Request,
    server_id: ServerId,
    incarnation: i64,
) -> Result<String> {
    let fleet = Authority {
        certificate: app.installation().fleet_ca.clone(),
        key: app.installation().fleet_ca_key.clone(),
    };
    let leaf = Leaf {
        common_name: common_name(server_id, incarnation),
        hosts: Vec::new(),
        usage: Usage::Client,
        valid_for: LIFE,
    };
    Ok(fleet.issue(request, &leaf, app.now(), app.entropy())?)
}
