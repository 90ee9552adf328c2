//! Restarting brokers: all of a cluster, or those of some servers. One at a time
//! and without losing a write, which is the engine's part.

use super::launches;
use super::nodes::Nodes;
use super::open::earlier_restarts;
use super::record::{Asking, record};
use super::scene::Scene;
use crate::{App, Asked, Error, InstanceAccess, Result};
use model::{ActionId, ActionKind, Server};
use store::{ServerRecord, instances, servers};

/// What it was called. A server is here for its broker alone, so there is
/// nothing else to boot.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum How {
    Restart,
    Reboot,
}

impl How {
    fn event(self) -> &'static str {
        match self {
            How::Restart => "instance.restart",
            How::Reboot => "instance.reboot",
        }
    }
}

/// Has the named brokers started anew, or all of them. Of two that ask at the
/// same moment one is refused: the intent is raised in the transaction that
/// found it reached. Unresponsive brokers are restarted beside whatever is open.
pub async fn restart(
    access: &InstanceAccess,
    app: &App,
    how: How,
    asked: Asked<Nodes>,
) -> Result<ActionId> {
    access.may_change()?;
    let mut work = app.store().begin().await?;
    let scene = Scene::load(access, app, &mut work).await?;
    let named = asked.checked()?.among(&scene.servers)?;
    let rows = servers::list(&mut work, scene.instance.id).await?;
    let unresponsive = named.as_deref().filter(|named| all_unresponsive(named, &rows));
    let replaced = if let Some(named) = unresponsive {
        scene.ready()?;
        earlier_restarts(&mut work, &scene.instance, named).await?
    } else {
        scene.settled(access, &mut work).await?;
        vec![]
    };
    running(named.as_deref().unwrap_or_default())?;
    // A server that was stopped on its own has no broker, and gets a new one
    // when it is started.
    let all = || scene.servers.iter().filter(|server| !server.wanted.is_stopped()).collect();
    let chosen: Vec<&Server> = named.clone().unwrap_or_else(all);
    for record in rows {
        if chosen.iter().any(|server| server.id == record.server.id) {
            launches::raise(&mut work, &record).await?;
        }
    }
    let asking = Asking {
        kind: named.as_ref().map_or(ActionKind::ClusterRestart, |_| ActionKind::Restart),
        event: how.event(),
        servers: named.as_deref().unwrap_or_default(),
        generation: instances::raise(&mut work, scene.instance.id, app.now()).await?,
        replaced,
    };
    let id = record(&mut work, access, app, &scene.instance, asking, None).await?;
    work.commit().await?;
    Ok(id)
}

/// Whether every one of these has an unresponsive broker that nobody has asked to restart
/// yet. Whatever is open may wait for it and for nothing else, so it need not end first.
fn all_unresponsive(named: &[&Server], rows: &[ServerRecord]) -> bool {
    let has_such = |server: &&Server| {
        rows.iter().any(|row| row.server.id == server.id && is_unresponsive(row))
    };
    named.iter().all(has_such)
}

/// Whether its broker runs since it was last asked to be started anew, and does not
/// answer its own agent.
fn is_unresponsive(row: &ServerRecord) -> bool {
    let report = row.current_report().filter(|it| it.is_up_since(row.server.wanted.launch()));
    report.is_some_and(|report| report.silent_since.is_some())
}

/// A server whose broker was stopped has none to restart.
fn running(chosen: &[&Server]) -> Result<()> {
    let stopped = chosen.iter().filter(|server| server.wanted.is_stopped());
    let stopped: Vec<&str> = stopped.map(|server| server.name.as_str()).collect();
    if stopped.is_empty() {
        return Ok(());
    }
    let names = stopped.join(", ");
    let sentence = format!("Stopped, so there is nothing to restart: {names}; use actions/start");
    Err(Error::Refused(sentence))
}
