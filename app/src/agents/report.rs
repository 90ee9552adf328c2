//! Reports of agents.

use super::{Agent, deliveries};
use crate::{App, Result};
use model::agent::Report;
use model::{ServerId, Timestamp};
use serde_json::{Map, Value};
use std::borrow::Cow;
use store::{instances, servers};

/// Takes an agent's report, with the text that it was sent as. One that says something new is
/// written and wakes the engine; one that repeats the last is only a sign of life. What it
/// has of integrations is kept elsewhere: the engine has nothing to do with it. Returns the
/// revision of where the server's logs go.
pub async fn report(agent: &Agent, app: &App, report: &Report, text: &str) -> Result<i64> {
    let now = app.now();
    let document = without_integrations(report, text);
    let mut reader = app.store().reader();
    // The certificate was checked a moment ago; what is written checks it once more.
    let known = servers::find_report(&mut reader, agent.server_id).await?;
    if known.document.as_deref() == Some(&*document) {
        app.last_seen().insert(agent.server_id, now);
    } else {
        let mut work = app.store().begin().await?;
        // The server may have been replaced since the first look.
        agent.enrolled(&mut work).await?;
        servers::set_report(&mut work, agent.server_id, &document, now).await?;
        instances::wake(&mut work, agent.instance_id, now).await?;
        work.commit().await?;
    }
    if let Some(reported) = &report.integrations {
        deliveries::take(agent, app, reported, known.has_failures).await?;
    }
    Ok(agent.integrations_revision)
}

/// Fields that only a newer engine knows stay in it.
fn without_integrations<'a>(report: &Report, text: &'a str) -> Cow<'a, str> {
    if report.integrations.is_none() {
        return text.into();
    }
    let Ok(mut fields) = serde_json::from_str::<Map<String, Value>>(text) else {
        return text.into();
    };
    fields.remove("integrations");
    Value::Object(fields).to_string().into()
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
