//! What was asked of an instance, newest first, and the steps of one action.

use crate::access::on_servers_of_its_own;
use crate::{App, Error, InstanceAccess, Result};
use model::{Action, ActionId, ActionState, ActionStep, Server};
use store::{actions, servers};

/// Older ones are in the audit log.
const MOST: u32 = 100;

/// An action as people read it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ActionView {
    pub action: Action,
    /// The names of the servers it is about.
    pub servers: Vec<String>,
    /// What it waits for now, or how it ended, in a sentence.
    pub status: String,
}

pub async fn list(access: &InstanceAccess, app: &App) -> Result<Vec<ActionView>> {
    on_servers_of_its_own(app, &access.instance)?;
    let mut reader = app.store().reader();
    let servers = servers::list_bare(&mut reader, access.instance.id).await?;
    let actions = actions::list(&mut reader, access.instance.id, MOST).await?;
    Ok(actions.into_iter().map(|action| view(access, &servers, action)).collect())
}

/// One action with its steps, in order.
pub async fn read(
    access: &InstanceAccess,
    app: &App,
    id: Option<ActionId>,
) -> Result<(ActionView, Vec<ActionStep>)> {
    on_servers_of_its_own(app, &access.instance)?;
    let id = id.ok_or(Error::NotFound)?;
    let mut reader = app.store().reader();
    let found = actions::find(&mut reader, access.instance.id, id).await?;
    let action = found.ok_or(Error::NotFound)?;
    let servers = servers::list_bare(&mut reader, access.instance.id).await?;
    let steps = actions::steps(&mut reader, id).await?;
    Ok((view(access, &servers, action), steps))
}

fn view(access: &InstanceAccess, servers: &[Server], action: Action) -> ActionView {
    let is_about =
        |server: &&Server| action.servers.is_empty() || action.servers.contains(&server.number);
    let names = servers.iter().filter(is_about).map(|server| server.name.clone()).collect();
    let status = match action.state() {
        ActionState::Running | ActionState::Cancelling => &access.instance.progress.status,
        ActionState::Cancelled => "cancelled; what had begun was brought to its end",
        ActionState::Done => "done",
    };
    let status = status.to_owned();
    ActionView { action, servers: names, status }
}
