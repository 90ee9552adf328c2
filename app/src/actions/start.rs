//! Starting brokers that were stopped on their own.

use super::launches;
use super::nodes::Nodes;
use super::open::replaced_by;
use super::power::{Power, switch};
use super::record::{Asking, record};
use super::scene::Scene;
use crate::{App, Asked, Error, InstanceAccess, Result};
use model::{ActionId, ActionKind, Server, Wanted};
use store::{instances, servers};

/// Has the named servers' brokers run again, or all that don't, whatever they
/// were stopped by. None if they shall run already.
pub async fn start_servers(
    access: &InstanceAccess,
    app: &App,
    asked: Asked<Nodes>,
) -> Result<Option<ActionId>> {
    access.may_change()?;
    let mut work = app.store().begin().await?;
    let scene = Scene::load(access, app, &mut work).await?;
    let named = asked.checked()?.among(&scene.servers)?;
    let cluster_is_stopped = scene.instance.stopped;
    if cluster_is_stopped && named.is_some() {
        let sentence = "All servers of the cluster are stopped; use actions/cluster-start";
        return Err(Error::Refused(sentence.into()));
    }
    let asked_for = named.unwrap_or_else(|| scene.servers.iter().collect());
    let moves = asked_for.into_iter().filter_map(|it| Some((it, it.wanted.start()?)));
    let (stopped, wanted): (Vec<&Server>, Vec<Wanted>) = moves.unzip();
    if stopped.is_empty() && !cluster_is_stopped {
        return Ok(None);
    }
    for (server, wanted) in stopped.iter().zip(wanted) {
        servers::set_wanted(&mut work, server.id, wanted).await?;
        launches::render_anew(&mut work, server.id).await?;
    }
    let instance = &scene.instance;
    let id = if cluster_is_stopped {
        switch(&mut work, access, app, instance, Power::Start).await?
    } else {
        let kind = ActionKind::Start;
        let asking = Asking {
            kind,
            event: "instance.start",
            servers: &stopped,
            replaced: replaced_by(access, &mut work, instance, kind, &stopped).await?,
            generation: instances::raise(&mut work, instance.id, app.now()).await?,
        };
        record(&mut work, access, app, instance, asking, None).await?
    };
    work.commit().await?;
    Ok(Some(id))
}
