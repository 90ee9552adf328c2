//! One open action an instance: another one is refused as long as it goes on, with what
//! it waits for and what helps.
//!
//! Larger disks are neither in the way of anything nor kept waiting.
//!
//! There are two exceptions. A restart of unresponsive brokers is accepted beside
//! whatever is open (`restart.rs`): nothing else helps them, and what is open may wait
//! for them. And an action that undoes the whole of an open one replaces it, which ends
//! at once as superseded.

use super::cancel::instead_of_cancelling;
use crate::{Error, InstanceAccess, Result};
use model::{Action, ActionKind, ActionState, Instance, Server};
use store::{Run, actions};

/// The open actions that this one replaces. Fails if one is open that it does not undo.
pub(super) async fn replaced_by(
    access: &InstanceAccess,
    run: &mut impl Run,
    instance: &Instance,
    kind: ActionKind,
    servers: &[&Server],
) -> Result<Vec<Action>> {
    // Whatever was asked for is reached, so nothing of it can be in the way.
    if instance.configured() {
        return Ok(vec![]);
    }
    let mut open = actions::open(run, instance.id).await?;
    open.retain(|action| !goes_on_beside(kind, action));
    let (replaced, left): (Vec<Action>, Vec<Action>) =
        open.into_iter().partition(|action| undoes(kind, servers, action));
    // A restart of unresponsive brokers came upon what is replaced, and goes on.
    let is_in_the_way = |it: &&Action| replaced.is_empty() || it.kind != ActionKind::Restart;
    match left.iter().rev().find(is_in_the_way) {
        Some(action) => Err(refusal(access, instance, action)),
        None => Ok(replaced),
    }
}

/// Whether an open action and this one have nothing to do with each other. Disks grow while
/// servers are restarted. A change of servers goes on once a stopped cluster is started again.
fn goes_on_beside(kind: ActionKind, open: &Action) -> bool {
    match open.kind {
        ActionKind::ResizeDisk => true,
        ActionKind::Resize | ActionKind::Rebalance => {
            matches!(kind, ActionKind::ClusterStop | ActionKind::ClusterStart)
        }
        _ => false,
    }
}

/// Open restarts of no other servers than these: another one takes their place, so that a
/// broker that hangs again and again has one open restart.
pub(super) async fn earlier_restarts(
    run: &mut impl Run,
    instance: &Instance,
    servers: &[&Server],
) -> Result<Vec<Action>> {
    let mut open = actions::open(run, instance.id).await?;
    let is_named = |number: &u32| servers.iter().any(|server| server.number == *number);
    open.retain(|it| it.kind == ActionKind::Restart && it.servers.iter().all(is_named));
    Ok(open)
}

/// Whether nothing is left of an open action once this one is asked for. Stopping or
/// starting the cluster decides about every server.
fn undoes(kind: ActionKind, servers: &[&Server], open: &Action) -> bool {
    match (kind, open.kind) {
        (ActionKind::ClusterStop | ActionKind::ClusterStart, _) => true,
        (ActionKind::Stop, ActionKind::Start) | (ActionKind::Start, ActionKind::Stop) => {
            let is_named = |number: &u32| servers.iter().any(|server| server.number == *number);
            open.servers.iter().all(is_named)
        }
        _ => false,
    }
}

fn refusal(access: &InstanceAccess, instance: &Instance, open: &Action) -> Error {
    let Action { id, asked_by, asked_at, .. } = open;
    // An instance's own key sees nobody of the team.
    let by = if access.is_of_own_key() { String::new() } else { format!(" by {asked_by}") };
    let cancelled = match open.state() {
        ActionState::Cancelling => ", which was cancelled and brings to its end what has begun",
        _ => "",
    };
    Error::Refused(format!(
        "The cluster follows another change: action {id} ({}, asked for{by} at {asked_at:.0}; \
         {}){cancelled}; {}",
        open.title(),
        instance.progress.status_without_logs(),
        remedy(access, instance, open)
    ))
}

/// Only a customer key opens the journal.
fn remedy(access: &InstanceAccess, instance: &Instance, open: &Action) -> String {
    let id = instance.id;
    if access.is_of_own_key() {
        return "try again once `configured` reads true".into();
    }
    let wait = format!("wait for it (castellan instance watch {id})");
    match instead_of_cancelling(open.kind) {
        _ if open.state() == ActionState::Cancelling => wait,
        None => {
            format!("{wait} or cancel it (POST /api/instances/{id}/actions/{}/cancel)", open.id)
        }
        Some(instead) => format!("{wait} or {instead}"),
    }
}
