//! Actions that a later one overtakes: the contrary is asked for before they were
//! carried out.
//!
//! That is decided in the transaction that writes the later one, server by server:
//! what has been reached on a server stays done there. An action that nothing is
//! left of ends at once; another goes on with the rest. Neither is ever told as
//! done, nor, where it was cancelled, as brought to its end.

use super::reached::{has_stopped, runs};
use super::record::Asking;
use crate::{App, Result};
use model::{Action, ActionId, ActionKind, InstanceId};
use store::{ServerRecord, Work, actions, servers};

/// `by` is the id of what is asked, whose intent has been written.
pub(super) async fn overtake(
    work: &mut Work,
    app: &App,
    instance: InstanceId,
    asking: &Asking<'_>,
    by: ActionId,
) -> Result<()> {
    let earlier = actions::open(work, instance).await?;
    let is_met = |action: &Action| is_contrary(action.kind, asking.kind);
    let earlier: Vec<Action> = earlier.into_iter().filter(is_met).collect();
    if earlier.is_empty() {
        return Ok(());
    }
    let rows = servers::list(work, instance).await?;
    for action in earlier {
        let (overtaken, nothing_is_left) = taken_from(&action, asking, &rows, by);
        if overtaken != action.overtaken {
            let ended_at = nothing_is_left.then(|| app.now());
            actions::overtake(work, action.id, &overtaken, ended_at).await?;
        }
    }
    Ok(())
}

/// Whether one undoes the other.
fn is_contrary(earlier: ActionKind, later: ActionKind) -> bool {
    let stops = matches!(earlier, ActionKind::Stop | ActionKind::ClusterStop);
    let undone = match later {
        ActionKind::Stop | ActionKind::ClusterStop => !stops,
        ActionKind::Start | ActionKind::ClusterStart => stops,
        // These want a cluster that runs, and go along with whatever goes on.
        ActionKind::Create
        | ActionKind::ClusterRestart
        | ActionKind::Configure
        | ActionKind::Restart => false,
    };
    undone && (!is_whole(earlier) || is_whole(later))
}

/// Whether all servers get there together, or none has.
fn is_whole(kind: ActionKind) -> bool {
    matches!(kind, ActionKind::Create | ActionKind::ClusterStop | ActionKind::ClusterStart)
}

type Overtaken = std::collections::BTreeMap<u32, ActionId>;

/// What was taken from an action by now, and whether that is all of it.
fn taken_from(
    action: &Action,
    asking: &Asking<'_>,
    rows: &[ServerRecord],
    by: ActionId,
) -> (Overtaken, bool) {
    let about: Vec<&ServerRecord> =
        rows.iter().filter(|row| action.is_about(row.server.number)).collect();
    let mut overtaken = action.overtaken.clone();
    let is_due = |row: &ServerRecord| is_whole(action.kind) || !is_carried_out(action.kind, row);
    let is_taken = |row: &ServerRecord| is_whole(action.kind) || turns(asking, row) && is_due(row);
    for row in about.iter().filter(|row| is_taken(row)) {
        overtaken.entry(row.server.number).or_insert(by);
    }
    if overtaken == action.overtaken {
        return (overtaken, false);
    }
    // A server that was stopped before has no part in a restart of all.
    let has_part = |row: &ServerRecord| {
        !action.servers.is_empty() || !row.server.stopped || turns(asking, row)
    };
    let is_left = |row: &ServerRecord| {
        !overtaken.contains_key(&row.server.number) && has_part(row) && is_due(row)
    };
    let nothing_is_left = !about.iter().any(|row| is_left(row));
    if nothing_is_left {
        for row in about.into_iter().filter(|row| is_due(row)) {
            overtaken.entry(row.server.number).or_insert(by);
        }
    }
    (overtaken, nothing_is_left)
}

/// Whether what is asked turns this server around. All of them does not mean those
/// that are stopped on their own.
fn turns(asking: &Asking<'_>, row: &ServerRecord) -> bool {
    if asking.servers.is_empty() {
        return !row.server.stopped;
    }
    asking.servers.iter().any(|server| server.id == row.server.id)
}

fn is_carried_out(kind: ActionKind, row: &ServerRecord) -> bool {
    if kind == ActionKind::Stop { has_stopped(row) } else { runs(row) }
}
