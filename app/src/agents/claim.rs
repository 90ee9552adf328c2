//! An agent asks, at the moment of stopping its broker, whether it may.
//!
//! What was true when the agent was told to stop may be long past, so everything
//! is looked at anew. In doubt the answer is no: the broker goes on running, and
//! the agent asks again.

use super::Agent;
use super::desired::Held;
use crate::{App, Result};
use kafka::safety::Verdict;
use model::condition::FirstFew;
use store::tickets::{self, Refusal};
use store::{ServerRecord, Ticket};

/// The answer to a claim.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Claim {
    Go,
    No {
        /// In words.
        why: String,
        /// It waits for nothing but the next look at the instance.
        passing: bool,
    },
}

impl Claim {
    fn no(why: String) -> Self {
        Self::No { why, passing: false }
    }

    fn refused(refusal: &Refusal) -> Self {
        Self::No { why: refusal.to_string(), passing: refusal.is_passing() }
    }
}

/// Lets the agent's broker stop right now, or says why not. `held` is the
/// document that the agent obeys; `unresponsive` says that its broker does not answer it.
pub async fn claim(agent: &Agent, app: &App, held: Held, unresponsive: bool) -> Result<Claim> {
    let mut reader = app.store().reader();
    let (instance, server) = (agent.instance_id, agent.server_id);
    let ticket = match tickets::check(&mut reader, instance, server, app.now()).await? {
        Ok(ticket) => ticket,
        Err(refusal) => return Ok(Claim::refused(&refusal)),
    };
    if let Some(why) = objection(app, &ticket, unresponsive).await? {
        return Ok(Claim::no(why));
    }
    let mut work = app.store().begin().await?;
    let record = agent.record(&mut work).await?;
    if !held.is_document_of(&record) || is_taken_back(&record) {
        return Ok(Claim::no("something else is desired by now".into()));
    }
    let claimed = tickets::claim(&mut work, instance, server, app.now()).await?;
    work.commit().await?;
    Ok(claimed.map_or_else(|refusal| Claim::refused(&refusal), |()| Claim::Go))
}

/// Whether the document asks for a start that was taken back since: the worker on
/// the instance may have opened a ticket for it all the same, on an earlier look.
fn is_taken_back(record: &ServerRecord) -> bool {
    record.desired_launch() > record.server.wanted.launch()
}

/// Why the rest of the cluster can't do without the server, on a fresh look.
/// When all servers stop at once, none is left that could need them; one alone
/// leaves replicas and a quorum. No transaction is open meanwhile.
async fn objection(app: &App, ticket: &Ticket, unresponsive: bool) -> Result<Option<String>> {
    let Some(server) = ticket.server_id else { return Ok(None) };
    match app.reach().may_stop(ticket.instance_id, server, unresponsive).await {
        Err(reach::Error::Store(error)) => Err(error.into()),
        Err(error) => Ok(Some(error.to_string())),
        Ok(Verdict::Go) => Ok(None),
        Ok(Verdict::Wait(objections)) => Ok(Some(FirstFew::few(objections).to_string())),
    }
}
