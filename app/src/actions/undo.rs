//! Cancelling a change of the number of servers, or a rebalance: what was begun is undone as
//! far as that is possible, by the engine. Intent is as it was before, from this moment on.

use super::cancel::Cancelled;
use super::scene::is_down;
use crate::{App, Error, Result, history};
use model::{Action, Instance, Resize};
use store::{Work, instances, resizes, servers};

/// What there is to undo.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Undoing {
    /// The servers that were added leave again.
    Growth,
    /// The servers that were to leave stay.
    Shrink,
    /// No more replicas are moved.
    Rebalance,
}

impl Undoing {
    fn of(resize: &Resize) -> Self {
        match resize {
            it if it.is_rebalance() => Self::Rebalance,
            it if it.from < it.to => Self::Growth,
            _ => Self::Shrink,
        }
    }
}

/// Fails once a server has begun to go: its vote and its disk can't be given back.
pub(super) async fn undo(
    work: &mut Work,
    app: &App,
    instance: &Instance,
    action: &Action,
) -> Result<Undoing> {
    let found = resizes::find(work, instance.id).await?;
    let Some(resize) = found.filter(|resize| resize.action_id == action.id) else {
        let sentence = format!("Action {} has ended; there is nothing left to cancel", action.id);
        return Err(Error::Refused(sentence));
    };
    all_leaving_run(work, app, instance, &resize).await?;
    if !resizes::undo(work, instance.id).await? {
        return Err(Error::Refused(format!(
            "Servers are being removed already, so this goes on to its end; once it is done, \
             nodes: {} adds servers again",
            resize.from
        )));
    }
    if !resize.is_rebalance() {
        take_back_size(work, app, instance, &resize).await?;
    }
    Ok(Undoing::of(&resize))
}

/// A server that leaves would be one of the cluster again, and may be gone for good: the change
/// can go on without it, and taking it back can't.
async fn all_leaving_run(
    work: &mut Work,
    app: &App,
    instance: &Instance,
    resize: &Resize,
) -> Result<()> {
    if resize.from <= resize.to || !resize.may_be_undone() {
        return Ok(());
    }
    let now = app.now();
    let all = servers::list(work, instance.id).await?;
    let down = all.iter().filter(|it| it.server.is_leaving() && is_down(it, now));
    let down: Vec<&str> = down.map(|record| record.server.name.as_str()).collect();
    if down.is_empty() {
        return Ok(());
    }
    Err(Error::Refused(format!(
        "{} leaves and does not run, so this goes on to its end; once it is done, nodes: {} adds \
         servers again",
        down.join(", "),
        resize.from
    )))
}

/// The number of servers, and with it the plan and its price, are those of before. Another
/// size of servers that was asked for beside it stays.
async fn take_back_size(
    work: &mut Work,
    app: &App,
    instance: &Instance,
    resize: &Resize,
) -> Result<()> {
    let present = app.catalogue.plan(&instance.plan.0);
    let before = present.and_then(|plan| app.catalogue.plan_of(&plan.family.name, resize.from));
    let Some(plan) = before else {
        return Err(Error::Refused(format!(
            "It can't be cancelled: no plan with {} servers is offered any more",
            resize.from
        )));
    };
    instances::set_size(work, instance.id, &plan.name, plan.nodes, app.now()).await?;
    let after = Instance { plan: plan.name.clone(), nodes: plan.nodes, ..instance.clone() };
    history::undone(work, app, &after, resize.memory.agreed.as_ref()).await
}

/// It was cancelled before.
pub(super) async fn again(work: &mut Work, action: &Action) -> Result<Cancelled> {
    let resize = resizes::find(work, action.instance_id).await?;
    let undone = resize.filter(|it| it.undo && it.action_id == action.id);
    Ok(undone.map_or(Cancelled::Later, |it| Cancelled::Undoing(Undoing::of(&it))))
}
