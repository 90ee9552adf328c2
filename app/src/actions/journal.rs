//! What was asked of an instance, newest first, and the steps of one action.

use crate::access::on_servers_of_its_own;
use crate::{App, Error, InstanceAccess, Result};
use model::{Action, ActionId, ActionKind, ActionState, ActionStep, Server, servers_in_words};
use std::collections::BTreeMap;
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
    // Whatever overtook one of them is newer, and so among them.
    Ok(actions.iter().map(|action| view(access, &servers, action.clone(), &actions)).collect())
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
    let mut later = Vec::new();
    for by in action.overtaken.values() {
        later.extend(actions::find(&mut reader, access.instance.id, *by).await?);
    }
    Ok((view(access, &servers, action, &later), steps))
}

/// `later` are those that may have overtaken it.
fn view(
    access: &InstanceAccess,
    servers: &[Server],
    action: Action,
    later: &[Action],
) -> ActionView {
    let is_about = |server: &&Server| action.is_about(server.number);
    let names: Vec<String> =
        servers.iter().filter(is_about).map(|server| server.name.clone()).collect();
    let now = access.instance.progress.status();
    let status = match action.state() {
        ActionState::Running | ActionState::Cancelling if action.overtaken.is_empty() => now,
        ActionState::Running | ActionState::Cancelling => {
            format!("{now}; {}", superseded(&action, names.len(), later))
        }
        // What the engine ends, it ends later.
        ActionState::Cancelled
            if action.overtaken.is_empty() && action.ended_at == action.cancelled_at =>
        {
            "cancelled; nothing was restarted".into()
        }
        ActionState::Cancelled if action.overtaken.is_empty() => {
            "cancelled; what had begun was brought to its end".into()
        }
        ActionState::Cancelled => {
            format!("cancelled; {}", superseded(&action, names.len(), later))
        }
        ActionState::Superseded => superseded(&action, names.len(), later),
        ActionState::Done => "done".into(),
    };
    ActionView { action, servers: names, status }
}

/// By what, and on which servers, where it is not all that it was about.
fn superseded(action: &Action, servers: usize, later: &[Action]) -> String {
    let mut by: BTreeMap<ActionId, Vec<u32>> = BTreeMap::new();
    for (number, id) in &action.overtaken {
        by.entry(*id).or_default().push(*number);
    }
    let is_all = action.overtaken.len() == servers;
    let sentence = |(id, numbers): (&ActionId, &Vec<u32>)| {
        let found = later.iter().find(|other| other.id == *id);
        let title = found.map(|other| format!(" ({})", other.title())).unwrap_or_default();
        if numbers.len() == servers {
            return format!("superseded by action {id}{title}");
        }
        format!("superseded for {} by action {id}{title}", servers_in_words(numbers))
    };
    let mut sentences: Vec<String> = by.iter().map(sentence).collect();
    if action.kind == ActionKind::Configure {
        sentences.push("settings hold from the next start on".into());
    }
    if action.ended_at.is_some() && !is_all {
        let cancelled = action.cancelled_at.map(|_| "what else had begun was brought to its end");
        sentences.push(cancelled.unwrap_or("done for the rest").into());
    }
    sentences.join("; ")
}
