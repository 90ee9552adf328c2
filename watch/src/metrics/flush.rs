//! Windows whose time is over, into the history.
//!
//! A row is read, merged and written back, and the thinner tiers are made anew
//! from the whole of it: to write a window again changes nothing. One that fails
//! stays in memory for the next time.

use super::early;
use super::hub::Open;
use crate::Context;
use model::{InstanceId, ServerId};
use series::{Tier, Window, pack, unpack};
use std::collections::HashSet;
use store::{MetricWindow, MetricsHistory};

/// Agents that are a little late come in time for their window.
const GRACE: i64 = 30;
/// A server that was not heard of for so long is gone, or another control plane's.
const SILENT: i64 = 3600;

/// Writes what is due and forgets what is too old. Run every few seconds.
pub async fn flush(context: &Context, most_bytes: i64) {
    let now = context.now().as_second();
    forget_silent(context, now);
    if let Some(history) = &context.metrics().history
        && let Err(error) = early::write_shared(context, history).await
    {
        tracing::warn!(%error, "metrics could not be written for other control planes");
    }
    if write(context, |open| open.window.end() + GRACE <= now).await > 0
        && let Some(history) = &context.metrics().history
        && let Err(error) = forget(history, now, most_bytes).await
    {
        tracing::warn!(%error, "old metrics could not be removed; trying again");
    }
}

/// Writes what there is, at the end of the process.
pub async fn flush_everything(context: &Context) {
    write(context, |_| true).await;
    if let Some(history) = &context.metrics().history {
        history.close().await;
    }
}

/// Servers that are gone are not remembered for ever, nor are their instances. What waits to
/// be written keeps them, if there is anything that it could be written to.
fn forget_silent(context: &Context, now: i64) {
    let is_written = context.metrics().history.is_some();
    let heard: HashSet<InstanceId> = {
        let mut servers = context.metrics().servers();
        servers.retain(|_, held| {
            let heard = held.latest.server.as_ref().is_some_and(|latest| now - latest.at <= SILENT);
            heard || is_written && !held.open.is_empty()
        });
        servers.values().filter_map(|held| held.instance).collect()
    };
    context.metrics().ends().retain(|instance, _| heard.contains(instance));
}

/// How many windows were written.
async fn write(context: &Context, is_due: impl Fn(&Open) -> bool) -> usize {
    let metrics = context.metrics();
    let Some(history) = &metrics.history else { return 0 };
    let due: Vec<(ServerId, i64)> = {
        let servers = metrics.servers();
        let all =
            servers.iter().flat_map(|(id, held)| held.open.iter().map(move |open| (*id, open)));
        all.filter(|(_, open)| is_due(open)).map(|(id, open)| (id, open.window.start)).collect()
    };
    let mut count = 0;
    // A fleet's windows are over at the same moment: only one at a time is there twice.
    for (server, start) in due {
        let Some(open) = metrics.open(server, start) else { continue };
        let window = open.window.window();
        match write_one(history, server, &window).await {
            Ok(true) => {
                count += 1;
                if let Some(held) = metrics.servers().get_mut(&server) {
                    held.wrote(&window, open.changes);
                }
            }
            // Another control plane wrote it at the same moment; the next time.
            Ok(false) => {}
            Err(error) => {
                tracing::warn!(%error, "metrics could not be written; they stay in memory");
                return count;
            }
        }
    }
    count
}

async fn write_one(
    history: &MetricsHistory,
    server: ServerId,
    open: &Window,
) -> store::Result<bool> {
    let (version, mut sampled) = stored(history, server, open).await?;
    sampled.merge(open);
    let mut rows = vec![row(server, &sampled, version)];
    for tier in Tier::THINNED {
        let thinned = sampled.thinned(tier);
        let (version, mut whole) = stored(history, server, &thinned).await?;
        whole.merge(&thinned);
        rows.push(row(server, &whole, version));
    }
    history.write(&rows).await
}

/// What is on disk of the same time. A row that can't be read is replaced.
pub(super) async fn stored(
    history: &MetricsHistory,
    server: ServerId,
    like: &Window,
) -> store::Result<(i64, Window)> {
    let empty = || Window::around(like.start, like.tier);
    let found = history.find(server, like.tier.step(), like.start).await?;
    Ok(found.map_or_else(
        || (0, empty()),
        |row| (row.version, unpack(&row.body).unwrap_or_else(|_| empty())),
    ))
}

pub(super) fn row(server_id: ServerId, window: &Window, version: i64) -> MetricWindow {
    let (step, begins) = (window.tier.step(), window.start);
    MetricWindow { server_id, step, begins, version, body: pack(window) }
}

/// By age, and beyond the bound the oldest first, the finest before the others.
async fn forget(history: &MetricsHistory, now: i64, most_bytes: i64) -> store::Result<()> {
    for tier in Tier::ALL {
        history.forget(tier.step(), tier.kept_since(now)).await?;
    }
    for tier in Tier::ALL {
        while history.taken().await? > most_bytes
            && let (_, Some(oldest)) = history.size(tier.step()).await?
        {
            history.forget(tier.step(), oldest + tier.span()).await?;
        }
    }
    Ok(())
}
