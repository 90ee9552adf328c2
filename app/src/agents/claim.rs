//! An agent asks, at the moment of stopping its broker, whether it may.
//!
//! What was true when the agent was told to stop may be long past, so everything
//! is looked at anew. In doubt the answer is no: the broker goes on running, and
//! the agent asks again.

use super::Agent;
use super::desired::Held;
use crate::{App, Result};
use store::{Ticket, tickets};

/// The answer to a claim.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Claim {
    Go,
    /// Why not, in words.
    No(String),
}

/// Lets the agent's broker stop right now, or says why not. `held` is the
/// document that the agent obeys.
pub async fn claim(agent: &Agent, app: &App, held: Held) -> Result<Claim> {
    let mut reader = app.store().reader();
    let (instance, server) = (agent.instance_id, agent.server_id);
    let ticket = match tickets::check(&mut reader, instance, server, app.now()).await? {
        Ok(ticket) => ticket,
        Err(refusal) => return Ok(Claim::No(refusal.to_string())),
    };
    if let Some(reason) = objection(app, &ticket).await? {
        return Ok(Claim::No(reason));
    }
    let mut work = app.store().begin().await?;
    if !held.is_document_of(&agent.record(&mut work).await?) {
        return Ok(Claim::No("something else is desired by now".into()));
    }
    let claimed = tickets::claim(&mut work, instance, server, app.now()).await?;
    work.commit().await?;
    Ok(claimed.map_or_else(|refusal| Claim::No(refusal.to_string()), |()| Claim::Go))
}

/// Why the rest of the cluster can't do without the server, on a fresh look. All
/// servers at once leave nobody behind who could miss them; one alone leaves
/// replicas and a quorum. No transaction is open meanwhile.
async fn objection(app: &App, ticket: &Ticket) -> Result<Option<String>> {
    let Some(server) = ticket.server_id else { return Ok(None) };
    match app.reach().objection(ticket.instance_id, server).await {
        Err(reach::Error::Store(error)) => Err(error.into()),
        Err(error) => Ok(Some(error.to_string())),
        Ok(objection) => Ok(objection),
    }
}
