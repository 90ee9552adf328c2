//! What the agent's server should be, held until it changes.

use super::Agent;
use crate::{App, Result};
use model::ServerId;
use std::time::Duration;
use store::Change;
use tokio::sync::broadcast::Receiver;
use tokio::sync::broadcast::error::RecvError;
use tokio::time::{Instant, sleep, sleep_until};

/// Changes by another control plane on the same store are not told here, so
/// the row is looked at this often anyway.
const LOOK_AGAIN: Duration = Duration::from_secs(2);

/// The document as soon as its revision is another than `after`; none if that
/// takes longer than `wait`.
pub async fn desired(
    agent: &Agent,
    app: &App,
    after: Option<i64>,
    wait: Duration,
) -> Result<Option<String>> {
    let deadline = Instant::now() + wait;
    // Subscribed before the first look, so that no change falls in between.
    let mut changes = app.store().changes();
    loop {
        app.last_seen().insert(agent.server_id, app.now());
        let record = agent.record(&mut app.store().reader()).await?;
        if let Some(document) = record.desired
            && Some(record.revision) != after
        {
            return Ok(Some(document));
        }
        if Instant::now() >= deadline {
            return Ok(None);
        }
        tokio::select! {
            () = changed(&mut changes, agent.server_id) => {}
            () = sleep(LOOK_AGAIN) => {}
            () = sleep_until(deadline) => {}
        }
    }
}

async fn changed(changes: &mut Receiver<Change>, server: ServerId) {
    loop {
        match changes.recv().await {
            Ok(Change::Desired(of)) if of == server => return,
            Ok(_) => {}
            // Whatever was missed may have been ours.
            Err(RecvError::Lagged(_)) => return,
            // The store is closing; the next look says so.
            Err(RecvError::Closed) => std::future::pending().await,
        }
    }
}
