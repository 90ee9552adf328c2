//! Stopping the brokers of some servers, while the others serve on.
//!
//! What the rest of a cluster can do without is asked of the cluster itself,
//! before any transaction is open. The engine asks again at the moment of each
//! stop; refusing here is for whoever asks, who can still choose.

use super::in_the_way::in_the_way;
use super::nodes::Nodes;
use super::power::{Power, set_power};
use super::record::{Asking, record};
use super::scene::Scene;
use crate::{App, Asked, Error, InstanceAccess, Result};
use kafka::safety::{Leaving, Look, Need, Verdict, may_stop};
use model::condition::FirstFew;
use model::{ActionId, ActionKind, Server};
use store::{instances, servers};
use watch::alarms::stop_measuring;

/// Others may stop servers while the cluster is looked at.
const ATTEMPTS: usize = 5;

/// Has the named servers' brokers stopped until they are started again; without
/// names, the whole cluster. None if they are stopped already.
pub async fn stop_servers(
    access: &InstanceAccess,
    app: &App,
    asked: Asked<Nodes>,
) -> Result<Option<ActionId>> {
    access.may_change()?;
    let found = Scene::load(access, app, &mut app.store().reader()).await?;
    let nodes = asked.checked()?;
    if nodes.among(&found.servers)?.is_none() {
        return set_power(access, app, Power::Stop).await;
    }
    for _ in 0..ATTEMPTS {
        let seen = Scene::load(access, app, &mut app.store().reader()).await?;
        let Some(wanted) = still_running(&seen, &nodes)? else { return Ok(None) };
        can_do_without(access, app, &seen, &wanted).await?;
        if let Some(id) = write(access, app, &seen, &wanted).await? {
            return Ok(Some(id));
        }
    }
    let sentence = "Other servers were stopped or started at the same moment; try again";
    Err(Error::Refused(sentence.into()))
}

/// None if what was looked at is no longer what shall be: whoever stops or starts
/// a server raises the generation.
async fn write(
    access: &InstanceAccess,
    app: &App,
    seen: &Scene,
    wanted: &[&Server],
) -> Result<Option<ActionId>> {
    let mut work = app.store().begin().await?;
    let Scene { instance, .. } = Scene::load(access, app, &mut work).await?;
    if instance.generation != seen.instance.generation {
        return Ok(None);
    }
    for server in wanted {
        servers::set_stopped(&mut work, server.id, true).await?;
    }
    let why = "is over: the server was stopped as asked";
    stop_measuring(&mut work, app.watch(), &instance, Some(wanted), why).await?;
    let asking = Asking {
        kind: ActionKind::Stop,
        event: "instance.stop",
        servers: wanted,
        generation: instances::raise(&mut work, instance.id, app.now()).await?,
    };
    let id = record(&mut work, access, app, &instance, asking, None).await?;
    work.commit().await?;
    Ok(Some(id))
}

/// Those of the named ones that shall run as yet; none if there are none.
fn still_running<'a>(scene: &'a Scene, nodes: &Nodes) -> Result<Option<Vec<&'a Server>>> {
    let named = nodes.among(&scene.servers)?.unwrap_or_default();
    let wanted: Vec<&Server> = named.into_iter().filter(|server| !server.stopped).collect();
    Ok((!wanted.is_empty()).then_some(wanted))
}

/// Fails with what the rest of the cluster would lack.
async fn can_do_without(
    access: &InstanceAccess,
    app: &App,
    scene: &Scene,
    wanted: &[&Server],
) -> Result<()> {
    scene.ready()?;
    let left = scene.servers.iter().filter(|server| !server.stopped).count();
    if wanted.len() == left {
        return Err(Error::Refused(
            "This would leave no server running; use actions/cluster-stop, \
             which stops all of them together"
                .into(),
        ));
    }
    let leaving: Vec<i32> = leaving(scene, wanted).map(|server| server.node_id).collect();
    let look = look(app, scene).await?;
    // Nothing stops before the engine has asked again, so nobody else is waited for here.
    let leaving =
        Leaving { nodes: &leaving, need: Need::StayDown, unresponsive: None, others: &[] };
    let Verdict::Wait(objections) = may_stop(Some(&look), &leaving) else { return Ok(()) };
    let mut sentence = format!("Nothing was stopped: {}", FirstFew::many(objections));
    if !scene.instance.configured() {
        // Once that is done the others may be able to.
        let way = in_the_way(access, &mut app.store().reader(), &scene.instance).await?;
        sentence.extend(way.map(|way| format!("; the cluster follows another change: {way}")));
    }
    Err(Error::Refused(sentence))
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

/// Whom to do without: the wanted ones, and any that were asked to stop before
/// and may run as yet.
fn leaving<'a>(scene: &'a Scene, wanted: &[&'a Server]) -> impl Iterator<Item = &'a Server> {
    let under_way = !scene.instance.configured();
    let is_wanted = |server: &Server| wanted.iter().any(|it| it.id == server.id);
    scene.servers.iter().filter(move |server| is_wanted(server) || under_way && server.stopped)
}
