//! What goes on at an instance, for whoever is refused because of it.

use super::cancel::instead_of_cancelling;
use super::reached::runs;
use crate::{InstanceAccess, Result};
use model::{Action, ActionState, Instance};
use store::{Run, ServerRecord, actions, servers};

/// Every action that goes on, and what can be done about it; none if nobody has
/// asked for what the instance follows.
pub(super) async fn in_the_way(
    access: &InstanceAccess,
    run: &mut impl Run,
    instance: &Instance,
) -> Result<Option<String>> {
    let mut open = actions::open(run, instance.id).await?;
    // In the order that they were asked for.
    open.reverse();
    if open.is_empty() {
        return Ok(None);
    }
    let rows = servers::list(run, instance.id).await?;
    let each: Vec<String> = open.iter().map(|action| words(access, action, &rows)).collect();
    Ok(Some(format!("{}; {}", each.join(" and "), remedy(access, instance, &open))))
}

fn words(access: &InstanceAccess, action: &Action, rows: &[ServerRecord]) -> String {
    let Action { id, asked_by, asked_at, .. } = action;
    let by = if access.is_of_own_key() { String::new() } else { format!(" by {asked_by}") };
    let mut words = format!("action {id} ({}, asked for{by} at {asked_at:.0})", action.title());
    // Of one that was cancelled nobody can say how many it is about.
    if action.kind.restarts() && action.state() == ActionState::Running {
        let is_about = |row: &&ServerRecord| {
            let number = row.server.number;
            let is_left = !row.server.stopped && !action.overtaken.contains_key(&number);
            is_left && action.is_about(number)
        };
        let all = rows.iter().filter(is_about);
        let done = all.clone().filter(|row| runs(row)).count();
        let progress = format!(", {done} of {} servers done", all.count());
        words.push_str(&progress);
    }
    if action.state() == ActionState::Cancelling {
        words.push_str(", which was cancelled and brings to its end what has begun");
    }
    words
}

/// Only a customer key opens the journal.
fn remedy(access: &InstanceAccess, instance: &Instance, open: &[Action]) -> String {
    let id = instance.id;
    if access.is_of_own_key() {
        return "try again once `configured` reads true".into();
    }
    match open {
        [one] if can_be_cancelled(one) => format!(
            "wait for it (castellan instance watch {id}) \
             or cancel it (POST /api/instances/{id}/actions/{}/cancel)",
            one.id
        ),
        [_] => format!("wait for it (castellan instance watch {id})"),
        _ => format!("wait for them (castellan instance watch {id})"),
    }
}

fn can_be_cancelled(action: &Action) -> bool {
    instead_of_cancelling(action.kind).is_none() && action.state() == ActionState::Running
}
