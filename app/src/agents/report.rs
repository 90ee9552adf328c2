//! What agents say of their servers.

use super::Agent;
use crate::{App, Result};
use model::{ServerId, Timestamp};
use store::{instances, servers};

/// Takes an agent's report. One that says something new is written and wakes
/// the engine; one that repeats the last is only a sign of life.
pub async fn report(agent: &Agent, app: &App, document: &str) -> Result<()> {
    let now = app.now();
    let mut reader = app.store().reader();
    // The certificate was checked a moment ago; what is written checks it once more.
    let known = servers::find_report(&mut reader, agent.server_id).await?;
    if known.as_deref() == Some(document) {
        app.last_seen().insert(agent.server_id, now);
        return Ok(());
    }
    let mut work = app.store().begin().await?;
    // The server may have been replaced since the first look.
    agent.enrolled(&mut work).await?;
    servers::set_report(&mut work, agent.server_id, document, now).await?;
    instances::wake(&mut work, agent.instance_id, now).await?;
    Ok(work.commit().await?)
}

/// Writes the signs of life since the last flush, in one transaction. Run once
/// a second; what can't be written is kept for the next time.
pub async fn flush_last_seen(app: &App) -> Result<()> {
    let batch = std::mem::take(&mut *app.last_seen());
    if batch.is_empty() {
        return Ok(());
    }
    // The clock may have been set back since.
    let now = app.now();
    let seen: Vec<(ServerId, Timestamp)> =
        batch.iter().map(|(id, at)| (*id, (*at).min(now))).collect();
    let written = async {
        let mut work = app.store().begin().await?;
        servers::set_last_seen(&mut work, &seen).await?;
        work.commit().await
    };
    if let Err(error) = written.await {
        let mut waiting = app.last_seen();
        for (server, at) in batch {
            waiting.entry(server).or_insert(at);
        }
        return Err(error.into());
    }
    Ok(())
}
