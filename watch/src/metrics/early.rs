//! Windows that are not over yet, into the history, where another control plane waits for
//! them: it sends the metrics of an instance, and some of the instance's agents talk to this
//! one. Without that their minutes would come when the window is over.
//!
//! They stay in memory, and are written as a whole at their end like any other.

use super::flush::{row, stored};
use crate::Context;
use model::{InstanceId, ServerId, Timestamp};
use series::{Window, align};
use std::collections::HashSet;
use store::{MetricsHistory, integrations};

const MINUTE: i64 = 60;
/// Seconds after a minute when the samples of agents that are a little late are in.
pub const SETTLE: i64 = 20;
/// Seconds without a sample after which an agent talks to another control plane, if any
/// hears it.
const SILENT: i64 = 25;
/// Seconds since a server was seen after which no control plane hears it.
const SEEN: i64 = 60;

/// Writes once a minute what this process heard of instances whose metrics are sent, if
/// another control plane hears some of their servers. Run every few seconds.
pub(super) async fn write_shared(context: &Context, history: &MetricsHistory) -> store::Result<()> {
    let now = context.now().as_second();
    let minute = align(now - SETTLE, MINUTE);
    let all = integrations::sent_servers(&mut context.store().reader()).await?;
    let seen = all.iter().filter(|it| is_heard_by_any(it.last_seen, now));
    let elsewhere = seen.filter(|it| !is_heard(context, it.id));
    let shared: HashSet<InstanceId> = elsewhere.map(|it| it.instance_id).collect();
    for server in all.iter().filter(|it| shared.contains(&it.instance_id)) {
        for window in windows_to_write(context, server.id, minute) {
            let (version, mut sampled) = stored(history, server.id, &window).await?;
            sampled.merge(&window);
            // Another control plane wrote it at the same moment; the next time.
            if !history.write(&[row(server.id, &sampled, version)]).await? {
                return Ok(());
            }
        }
        if let Some(held) = context.metrics().servers().get_mut(&server.id) {
            held.written_early = minute;
        }
    }
    Ok(())
}

/// Whether some control plane hears a server that was last seen then.
pub fn is_heard_by_any(last_seen: Option<Timestamp>, now: i64) -> bool {
    last_seen.is_some_and(|at| now - at.as_second() <= SEEN)
}

fn is_heard(context: &Context, server: ServerId) -> bool {
    let now = context.elapsed();
    let servers = context.metrics().servers();
    let heard_at = servers.get(&server).and_then(|held| held.heard_at);
    heard_at.is_some_and(|at| (now - at).as_secs() <= SILENT)
}

/// Copies of a server's open windows; none if they have been written since the minute.
fn windows_to_write(context: &Context, server: ServerId, minute: i64) -> Vec<Window> {
    let servers = context.metrics().servers();
    let held = servers.get(&server).filter(|held| held.written_early < minute);
    let open = held.into_iter().flat_map(|held| &held.open);
    open.map(|open| open.window.window()).collect()
}
