//! Having no more of an action begun.

use super::launches;
use super::record::write_line;
use super::scene::Scene;
use crate::{App, Error, InstanceAccess, Result};
use model::{Action, ActionId, ActionKind, ActionState};
use store::{Work, actions, instances, servers};

/// Takes a restart back from the servers that have not been told of it. What has
/// begun is brought to its end by the engine, and then the action ends. Asking
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
        ActionState::Cancelled | ActionState::Done => {
            let sentence = format!("Action {id} has ended; there is nothing left to cancel");
            return Err(Error::Refused(sentence));
        }
    }
    take_back(&mut work, &action).await?;
    actions::cancel(&mut work, id, app.now()).await?;
    instances::wake(&mut work, instance.id, app.now()).await?;
    let asker = access.asker(&mut work).await?;
    let about = Some(("action", id.to_string()));
    write_line(&mut work, &asker, app, &instance, "instance.cancel", about).await?;
    Ok(work.commit().await?)
}

/// A restart may end after any server. Whatever else was asked for is either
/// reached or undone by asking for the contrary.
fn can_be_cancelled(kind: ActionKind) -> Result<()> {
    let instead = match kind {
        ActionKind::ClusterRestart | ActionKind::Restart => return Ok(()),
        ActionKind::Create => "delete the instance",
        ActionKind::Configure => "choose the settings of before with config/kafka",
        ActionKind::ClusterStop => "start it again with actions/cluster-start",
        ActionKind::ClusterStart => "stop it again with actions/cluster-stop",
        ActionKind::Stop => "start the servers again with actions/start",
        ActionKind::Start => "stop the servers again with actions/stop",
    };
    let sentence = format!("A {kind} is not left half done, so it can't be cancelled; {instead}");
    Err(Error::Refused(sentence))
}

async fn take_back(work: &mut Work, action: &Action) -> Result<()> {
    for record in servers::list(work, action.instance_id).await? {
        let server = &record.server;
        if action.servers.is_empty() || action.servers.contains(&server.number) {
            servers::take_back_launch(work, server.id, launches::told(&record)).await?;
        }
    }
    Ok(())
}
