//! Having no more of an action begun.

use super::launches;
use super::record::write_line;
use super::scene::Scene;
use crate::{App, Error, InstanceAccess, Result};
use model::{Action, ActionId, ActionKind, ActionState, Timestamp};
use store::{Work, actions, instances, servers, tickets};

/// Takes a restart back from the servers whose brokers have no leave to stop. What
/// has begun is brought to its end by the engine, and then the action ends. Asking
/// again changes nothing.
pub async fn cancel(access: &InstanceAccess, app: &App, id: Option<ActionId>) -> Result<()> {
    access.may_change()?;
    let mut work = app.store().begin().await?;
    let Scene { instance, .. } = Scene::load(access, app, &mut work).await?;
    let id = id.ok_or(Error::NotFound)?;
    let action = actions::find(&mut work, instance.id, id).await?.ok_or(Error::NotFound)?;
    match action.state() {
        ActionState::Running => can_be_cancelled(action.kind)?,
        ActionState::Cancelling => return Ok(()),
        ActionState::Cancelled | ActionState::Superseded | ActionState::Done => {
            let sentence = format!("Action {id} has ended; there is nothing left to cancel");
            return Err(Error::Refused(sentence));
        }
    }
    take_back(&mut work, &action, app.now()).await?;
    actions::cancel(&mut work, id, app.now()).await?;
    instances::wake(&mut work, instance.id, app.now()).await?;
    let asker = access.asker(&mut work).await?;
    let about = Some(("action", id.to_string()));
    write_line(&mut work, &asker, app, &instance, "instance.cancel", about).await?;
    Ok(work.commit().await?)
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
        ActionKind::ClusterRestart | ActionKind::Restart => return None,
        ActionKind::Create => "delete the instance",
        ActionKind::Configure => "choose the settings of before with config/kafka",
        ActionKind::ClusterStop => "start it again with actions/cluster-start",
        ActionKind::ClusterStart => "stop it again with actions/cluster-stop",
        ActionKind::Stop => "start the servers again with actions/start",
        ActionKind::Start => "stop the servers again with actions/stop",
    })
}

/// An agent that was told and has no leave yet is not waited for, which may be long.
/// It gets none from here on: leave is written down before it is given, and none is
/// for a start that was taken back. What somebody else has asked for stays.
async fn take_back(work: &mut Work, action: &Action, now: Timestamp) -> Result<()> {
    let mut others = actions::open(work, action.instance_id).await?;
    others.retain(|other| other.id != action.id && starts_anew(other));
    let leaving = tickets::claimed(work, action.instance_id, now).await?;
    tickets::close(work, action.instance_id).await?;
    for record in servers::list(work, action.instance_id).await? {
        let server = &record.server;
        let is_others = others.iter().any(|other| other.is_about(server.number));
        if action.is_about(server.number) && !is_others {
            let begun = launches::begun(&record, leaving.contains(&server.id));
            servers::take_back_launch(work, server.id, begun).await?;
        }
    }
    Ok(())
}

/// Whether it has raised the launches of its servers, and holds.
fn starts_anew(action: &Action) -> bool {
    action.state() == ActionState::Running && action.kind.restarts()
}
