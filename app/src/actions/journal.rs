//! What was asked of an instance, newest first, and the steps of one action.

use crate::access::on_servers_of_its_own;
use crate::{App, Error, InstanceAccess, Result};
use model::{
    Action, ActionId, ActionKind, ActionState, ActionStep, MoveProgress, Server, Timestamp,
};
use store::{actions, resizes, servers};

/// Older ones are in the audit log.
const MOST: u32 = 100;

/// An action as people read it.
#[derive(Clone, PartialEq, Debug)]
pub struct ActionView {
    pub action: Action,
    /// The names of the servers it is about.
    pub servers: Vec<String>,
    /// What it waits for now, or how it ended, in a sentence.
    pub status: String,
    /// How far replicas have moved, or had when it ended.
    pub progress: Option<MoveProgress>,
}

pub async fn list(access: &InstanceAccess, app: &App) -> Result<Vec<ActionView>> {
    on_servers_of_its_own(app, &access.instance)?;
    let mut reader = app.store().reader();
    let servers = servers::list_bare(&mut reader, access.instance.id).await?;
    let actions = actions::list(&mut reader, access.instance.id, MOST).await?;
    // Whatever replaced one of them is newer, and so among them.
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
    let later = match action.superseded_by {
        Some(by) => actions::find(&mut reader, access.instance.id, by).await?,
        None => None,
    };
    let resize = resizes::find(&mut reader, access.instance.id).await?;
    let progress = match resize.filter(|it| it.action_id == id) {
        Some(resize) => resize.progress.map(|progress| foretold(progress, app.now())),
        None => actions::moved(&mut reader, id).await?.map(ended),
    };
    let view = view(access, &servers, action, later.as_slice());
    Ok((ActionView { progress, ..view }, steps))
}

/// An end that was foretold and has passed is none.
fn foretold(progress: MoveProgress, now: Timestamp) -> MoveProgress {
    MoveProgress { ready_at: progress.ready_at.filter(|at| *at > now), ..progress }
}

/// Nothing moves any more.
fn ended(progress: MoveProgress) -> MoveProgress {
    MoveProgress { bytes_per_second: None, ready_at: None, ..progress }
}

/// `later` are those that may have replaced it.
fn view(
    access: &InstanceAccess,
    servers: &[Server],
    action: Action,
    later: &[Action],
) -> ActionView {
    let is_about = |server: &&Server| action.is_about(server.number);
    let servers = servers.iter().filter(is_about).map(|server| server.name.clone()).collect();
    let status = match action.ended_at {
        None => access.instance.progress.status(),
        Some(_) => how_it_ended(&action, later),
    };
    ActionView { action, servers, status, progress: None }
}

fn how_it_ended(action: &Action, later: &[Action]) -> String {
    if action.state() == ActionState::Done {
        return "done".into();
    }
    let mut parts: Vec<String> = Vec::new();
    if action.cancelled_at.is_some() {
        parts.push("cancelled".into());
    }
    parts.push(match action.superseded_by {
        Some(by) => superseded(by, later),
        // What the engine ends, it ends later.
        None if action.kind == ActionKind::Resize => "there are as many servers as before".into(),
        None if action.ended_at == action.cancelled_at => "nothing was restarted".into(),
        None => "what had begun was brought to its end".into(),
    });
    let by = later.iter().find(|other| Some(other.id) == action.superseded_by);
    let by_cluster_stop = by.is_some_and(|other| other.kind == ActionKind::ClusterStop);
    if action.kind == ActionKind::Stop && by_cluster_stop {
        parts.push("its servers stay stopped when the cluster is started".into());
    }
    if action.kind == ActionKind::Configure {
        parts.push("settings hold from the next start on".into());
    }
    if action.kind == ActionKind::ChangePlan && action.superseded_by.is_none() {
        parts.push("the plan's memory holds from the next start on".into());
    }
    parts.join("; ")
}

fn superseded(by: ActionId, later: &[Action]) -> String {
    let found = later.iter().find(|other| other.id == by);
    let title = found.map(|other| format!(" ({})", other.title())).unwrap_or_default();
    format!("superseded by action {by}{title}")
}
