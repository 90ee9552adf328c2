//! Stopping the brokers of some servers, while the others serve on.
//!
//! What the rest of a cluster can do without is asked of the cluster itself,
//! before any transaction is open. The engine asks again at the moment of each
//! stop; refusing here lets the caller still choose.

use super::nodes::Nodes;
use super::open::replaced_by;
use super::power::{Power, set_power};
use super::record::{Asking, record};
use super::scene::Scene;
use crate::{App, Asked, Error, InstanceAccess, Result};
use kafka::safety::{Leaving, Look, Need, Verdict, may_stop};
use model::condition::FirstFew;
use model::{ActionId, ActionKind, Server};
use store::instances;
use watch::alarms::stop_measuring;

/// Has the named servers' brokers stopped until they are started again; without
/// names, the whole cluster. None if they are stopped already.
pub async fn stop_servers(
    access: &InstanceAccess,
    app: &App,
    asked: Asked<Nodes>,
) -> Result<Option<ActionId>> {
    access.may_change()?;
    let mut reader = app.store().reader();
    let scene = Scene::load(access, app, &mut reader).await?;
    let Some(named) = asked.checked()?.among(&scene.servers)? else {
        return set_power(access, app, Power::Stop).await;
    };
    let wanted: Vec<&Server> =
        named.into_iter().filter(|server| !server.wanted.is_stopped()).collect();
    if wanted.is_empty() {
        return Ok(None);
    }
    scene.ready()?;
    leaves_one(&scene, &wanted)?;
    replaced_by(access, &mut reader, &scene.instance, ActionKind::Stop, &wanted).await?;
    can_do_without(app, &scene, &wanted).await?;
    write(access, app, &scene, &wanted).await.map(Some)
}

/// Fails if what was looked at is no longer what shall be: every stop or start of a
/// server raises the generation.
async fn write(
    access: &InstanceAccess,
    app: &App,
    seen: &Scene,
    wanted: &[&Server],
) -> Result<ActionId> {
    let mut work = app.store().begin().await?;
    let Scene { instance, servers } = Scene::load(access, app, &mut work).await?;
    let kind = ActionKind::Stop;
    let replaced = replaced_by(access, &mut work, &instance, kind, wanted).await?;
    if instance.generation != seen.instance.generation {
        let sentence = "Something else was asked of the cluster at the same moment; try again";
        return Err(Error::Refused(sentence.into()));
    }
    let is_named = |server: &&Server| wanted.iter().any(|it| it.id == server.id);
    for server in servers.iter().filter(is_named) {
        if let Some(wanted) = server.wanted.stop() {
            store::servers::set_wanted(&mut work, server.id, wanted).await?;
        }
    }
    let why = "is over: the server was stopped as asked";
    stop_measuring(&mut work, app.watch(), &instance, Some(wanted), why).await?;
    let generation = instances::raise(&mut work, instance.id, app.now()).await?;
    let asking = Asking { kind, event: "instance.stop", servers: wanted, generation, replaced };
    let id = record(&mut work, access, app, &instance, asking, None).await?;
    work.commit().await?;
    Ok(id)
}

fn leaves_one(scene: &Scene, wanted: &[&Server]) -> Result<()> {
    if scene.servers.iter().filter(|server| !server.wanted.is_stopped()).count() > wanted.len() {
        return Ok(());
    }
    Err(Error::Refused(
        "This would leave no server running; use actions/cluster-stop, \
         which stops all of them together"
            .into(),
    ))
}

/// Fails with what the rest of the cluster would lack.
async fn can_do_without(app: &App, scene: &Scene, wanted: &[&Server]) -> Result<()> {
    let leaving: Vec<i32> = wanted.iter().map(|server| server.node_id).collect();
    let look = look(app, scene).await?;
    // Nothing stops before the engine has asked again, so no other server is waited for here.
    let leaving =
        Leaving { nodes: &leaving, need: Need::StayDown, unresponsive: None, others: &[] };
    match may_stop(Some(&look), &leaving) {
        Verdict::Wait(objections) => {
            let sentence = format!("Nothing was stopped: {}", FirstFew::many(objections));
            Err(Error::Refused(sentence))
        }
        Verdict::Go => Ok(()),
    }
}

/// The cluster as its brokers say it is.
async fn look(app: &App, scene: &Scene) -> Result<Look> {
    app.reach().look(scene.instance.id, &scene.servers).await.map_err(|error| match error {
        reach::Error::Kafka(error) => Error::Refused(format!(
            "Nothing was stopped, because no broker tells what the others can do without: {error}"
        )),
        reach::Error::Store(error) => error.into(),
        error => Error::internal(error),
    })
}
