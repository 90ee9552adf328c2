//! Agents' certificates, signed by the fleet's authority.

use super::Agent;
use super::authenticate::{REPLACED, common_name};
use crate::{App, Error, Result};
use model::{ServerId, SignedDuration};
use pki::{Authority, Leaf, Request, Usage};
use store::{hash_public_key, servers};

/// The operator may set a shorter life.
const LONGEST_LIFE: SignedDuration = SignedDuration::from_hours(24 * 30);

/// A new certificate, for the agent's key or for a new one, which then replaces it. The
/// call came over TLS with the enrolled key, which so vouches for the new one; the request
/// is signed by the new one.
pub async fn renew(agent: &Agent, app: &App, csr: &str) -> Result<String> {
    let request = parse(csr)?;
    let key = hash_public_key(&request.public_key_der());
    let certificate = issue(app, request, agent.server_id, agent.incarnation)?;
    let mut work = app.store().begin().await?;
    let (id, incarnation) = (agent.server_id, agent.incarnation);
    if !servers::replace_key(&mut work, id, incarnation, &agent.key, &key).await? {
        return Err(REPLACED);
    }
    work.commit().await?;
    Ok(certificate)
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
        valid_for: app.settings.certificate_life.at_most(LONGEST_LIFE),
    };
    Ok(fleet.issue(request, &leaf, app.now(), app.entropy())?)
}
