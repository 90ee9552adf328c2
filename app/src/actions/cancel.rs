//! Having no more of an action begun.

use super::launches;
use super::record::write_line;
use super::scene::Scene;
use super::undo::{self, Undoing};
use crate::audit::Asker;
use crate::{App, Error, InstanceAccess, Result};
use model::condition::Note;
use model::{Action, ActionId, ActionKind, ActionState, Instance, Reason, Timestamp};
use store::{Work, actions, instances, servers, tickets};

/// How soon a cancelled action ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Cancelled {
    /// It has ended: nothing was restarted.
    AtOnce,
    /// Once what has begun is done.
    Later,
    /// Once what has begun is undone, as far as that can be.
    Undoing(Undoing),
}

/// Takes a restart back from the servers whose brokers have no leave to stop. What
/// has begun is brought to its end by the engine, and then the action ends; where
/// nothing has, it ends here and now. Asking again changes nothing. Settings that it was
/// for stay chosen: brokers take them up at their next start.
pub async fn cancel(access: &InstanceAccess, app: &App, id: Option<ActionId>) -> Result<Cancelled> {
    access.may_change()?;
    let mut work = app.store().begin().await?;
    let Scene { instance, .. } = Scene::load(access, app, &mut work).await?;
    let id = id.ok_or(Error::NotFound)?;
    let action = actions::find(&mut work, instance.id, id).await?.ok_or(Error::NotFound)?;
    match action.state() {
        ActionState::Running => can_be_cancelled(action.kind)?,
        ActionState::Cancelling => return undo::again(&mut work, &action).await,
        ActionState::Cancelled | ActionState::Superseded | ActionState::Done => {
            let sentence = format!("Action {id} has ended; there is nothing left to cancel");
            return Err(Error::Refused(sentence));
        }
    }
    // Read once: an action that ends in the moment it was cancelled had begun nothing.
    let now = app.now();
    let asker = access.asker(&mut work).await?;
    if matches!(action.kind, ActionKind::Resize | ActionKind::Rebalance) {
        let undoing = undo::undo(&mut work, app, &instance, &action).await?;
        end_later(&mut work, &asker, app, &instance, &action).await?;
        work.commit().await?;
        return Ok(Cancelled::Undoing(undoing));
    }
    let others = others(&mut work, &action).await?;
    let nothing_begun = take_back(&mut work, &instance, &action, &others, now).await?;
    end_later(&mut work, &asker, app, &instance, &action).await?;
    if nothing_begun {
        actions::end_one(&mut work, id, now).await?;
        let conditions = vec![Reason::RestartCancelled.into()];
        instances::set_conditions(&mut work, instance.id, conditions, now).await?;
        if others.is_empty() {
            instances::take_back_intent(&mut work, instance.id, action.generation).await?;
        }
    }
    work.commit().await?;
    Ok(if nothing_begun { Cancelled::AtOnce } else { Cancelled::Later })
}

/// The engine brings it to its end.
async fn end_later(
    work: &mut Work,
    asker: &Asker,
    app: &App,
    instance: &Instance,
    action: &Action,
) -> Result<()> {
    let (id, now) = (action.id, app.now());
    actions::cancel(work, id, now).await?;
    let note = Note::CancelledBy { email: asker.email.clone() };
    actions::keep(work, id, &note, now).await?;
    instances::wake(work, instance.id, now).await?;
    let about = Some(("action", id.to_string()));
    write_line(work, asker, app, instance, "instance.cancel", about).await
}

fn can_be_cancelled(kind: ActionKind) -> Result<()> {
    let Some(instead) = instead_of_cancelling(kind) else { return Ok(()) };
    let sentence = format!("A {kind} is not left half done, so it can't be cancelled; {instead}");
    Err(Error::Refused(sentence))
}

/// A restart may end after any server. Whatever else was asked for is either
/// reached or undone by asking for the contrary.
pub(super) fn instead_of_cancelling(kind: ActionKind) -> Option<&'static str> {
    Some(match kind {
        ActionKind::ClusterRestart
        | ActionKind::Restart
        | ActionKind::Configure
        | ActionKind::ChangePlan
        | ActionKind::Resize
        | ActionKind::Rebalance => return None,
        ActionKind::ResizeDisk => "no disk becomes smaller again",
        ActionKind::Create => "delete the instance",
        ActionKind::ClusterStop => "start it again with actions/cluster-start",
        ActionKind::ClusterStart => "stop it again with actions/cluster-stop",
        ActionKind::Stop => "start the servers again with actions/start",
        ActionKind::Start => "stop the servers again with actions/stop",
    })
}

/// What is open beside it: restarts of unresponsive brokers, or what those came upon. Growing
/// disks have nothing to do with it.
async fn others(work: &mut Work, action: &Action) -> Result<Vec<Action>> {
    let mut others = actions::open(work, action.instance_id).await?;
    others.retain(|other| other.id != action.id && other.kind != ActionKind::ResizeDisk);
    Ok(others)
}

/// An agent that was told and has no leave yet is not waited for, which may be long. It
/// gets none from here on: leave is written down before it is given, and none is for a
/// start that was taken back. What an action beside it restarts stays. The answer is
/// whether all of it was taken back: no server was restarted, and none may stop.
async fn take_back(
    work: &mut Work,
    instance: &Instance,
    action: &Action,
    others: &[Action],
    now: Timestamp,
) -> Result<bool> {
    let leaving = tickets::claimed(work, action.instance_id, now).await?;
    tickets::close(work, action.instance_id).await?;
    // Once something else was asked, the rows no longer tell what this one did.
    let mut is_all = instance.generation == action.generation;
    for record in servers::list(work, action.instance_id).await? {
        let server = &record.server;
        if !action.is_about(server.number) {
            continue;
        }
        if others.iter().any(|other| restarts(other, server.number)) {
            is_all = false;
            continue;
        }
        let may_stop = leaving.contains(&server.id);
        let begun = launches::begun(&record, may_stop);
        servers::set_wanted(work, server.id, server.wanted.take_back(begun)).await?;
        // One that was stopped before has no part in a restart of all.
        is_all &= server.wanted.is_stopped() || begun < server.wanted.launch() && !may_stop;
    }
    Ok(is_all)
}

fn restarts(action: &Action, number: u32) -> bool {
    let holds = action.state() == ActionState::Running;
    holds && action.kind.restarts() && action.is_about(number)
}
