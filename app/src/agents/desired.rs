//! What the agent's server should be, held until it changes.
//!
//! A revision means something within its store epoch alone: a restored store
//! counts on from an older one and comes to the same numbers again.

use super::Agent;
use crate::{App, Result};
use model::{InstanceId, ServerId};
use std::time::Duration;
use store::{Change, ServerRecord};
use tokio::sync::broadcast::Receiver;
use tokio::sync::broadcast::error::RecvError;
use tokio::time::{Instant, timeout_at};

/// Changes by another control plane on the same store are not told here, so
/// the row is looked at this often anyway.
const LOOK_AGAIN: Duration = Duration::from_secs(2);

/// The document an agent has.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Held {
    pub revision: i64,
    /// None from agents that don't say; the revision alone counts then.
    pub store_epoch: Option<i64>,
}

/// What an agent knows.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Known {
    pub document: Option<Held>,
    /// The revision of where its server's logs go; none from agents that send none.
    pub integrations: Option<i64>,
}

/// What it does not know.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum News {
    Document(String),
    /// Logs go elsewhere, by this revision.
    Integrations(i64),
}

/// The document as soon as it is another than the agent's, or that logs go elsewhere; none
/// if that takes longer than `wait`.
pub async fn desired(
    agent: &Agent,
    app: &App,
    Known { document: held, integrations }: Known,
    wait: Duration,
) -> Result<Option<News>> {
    let deadline = Instant::now() + wait;
    // Subscribed before the first look, so that no change falls in between.
    let mut changes = app.store().changes();
    // Its call is a sign of life, and that it still waits is none: an agent that hangs
    // does so, too.
    app.last_seen().insert(agent.server_id, app.now());
    let mut known = None;
    loop {
        // Thousands of agents wait here: none of them keeps a document meanwhile, nor is one
        // read again that has not changed.
        let enrolled = agent.enrolled(&mut app.store().reader()).await?;
        let revision = enrolled.revision;
        if known != Some(revision) {
            match Box::pin(look(agent, app, held)).await? {
                Look::Other(document) => return Ok(Some(News::Document(document))),
                Look::Held { revision } => known = Some(revision),
            }
        }
        let elsewhere = enrolled.integrations_revision;
        if integrations.is_some_and(|known| known != elsewhere) {
            return Ok(Some(News::Integrations(elsewhere)));
        }
        if Instant::now() >= deadline {
            return Ok(None);
        }
        until_changed(&mut changes, agent.server_id, agent.instance_id, deadline).await;
    }
}

enum Look {
    /// The agent does not have this document.
    Other(String),
    /// There is none but the one that the agent has.
    Held { revision: i64 },
}

async fn look(agent: &Agent, app: &App, held: Option<Held>) -> Result<Look> {
    let record = agent.record(&mut app.store().reader()).await?;
    let is_held = held.is_some_and(|held| held.is_document_of(&record));
    Ok(match record.desired {
        Some(document) if !is_held => Look::Other(document),
        _ => Look::Held { revision: record.revision },
    })
}

impl Held {
    pub(super) fn is_document_of(self, record: &ServerRecord) -> bool {
        self.revision == record.revision
            // The one in the document: after a restore that is an older one than the
            // store's, until the engine has written it anew.
            && self.store_epoch.is_none_or(|epoch| epoch == store_epoch(record))
    }
}

fn store_epoch(record: &ServerRecord) -> i64 {
    record.last_desired().map_or(0, |desired| desired.store_epoch)
}

/// Returns when there may be news for the server's agent, or at the deadline.
pub(super) async fn until_changed(
    changes: &mut Receiver<Change>,
    server: ServerId,
    instance: InstanceId,
    deadline: Instant,
) {
    let look_again = deadline.min(Instant::now() + LOOK_AGAIN);
    let _ = timeout_at(look_again, changed(changes, server, instance)).await;
}

async fn changed(changes: &mut Receiver<Change>, server: ServerId, instance: InstanceId) {
    loop {
        match changes.recv().await {
            Ok(Change::Desired(of)) if of == server => return,
            Ok(Change::Integrations(of)) if of == instance => return,
            Ok(_) => {}
            // Whatever was missed may have been ours.
            Err(RecvError::Lagged(_)) => return,
            // The store is closing; the next look says so.
            Err(RecvError::Closed) => std::future::pending().await,
        }
    }
}
