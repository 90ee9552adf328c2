//! What may be in the way of a change of servers, told with names and numbers before
//! anything is written.

use super::{ServerChange, leaving_of};
use crate::actions::scene::{Scene, is_down};
use crate::placement::{self, Placement};
use crate::places::Growth;
use crate::{App, Error, InstanceAccess, Result, limits};
use model::condition::FirstFew;
use model::{Instance, Plan, Server};
use mover::{Aim, Cluster};
use store::{Run, servers};

pub async fn check(
    access: &InstanceAccess,
    app: &App,
    seen: &Instance,
    change: &ServerChange,
) -> Result<()> {
    look(access, app, seen, change).await.map(drop)
}

/// The same, and the cluster as it is where brokers had to be asked for that.
pub async fn look(
    access: &InstanceAccess,
    app: &App,
    seen: &Instance,
    change: &ServerChange,
) -> Result<(Scene, Option<Placement>)> {
    let mut reader = app.store().reader();
    let scene = Scene::load(access, app, &mut reader).await?;
    unchanged(seen, &scene.instance)?;
    if change.changes_plan() {
        scene.settled(access, &mut reader).await?;
    }
    if change.resizes() {
        staying_servers_run(app, &scene, &leaving_of(change, &scene), &mut reader).await?;
        single_copy(change)?;
    }
    limits::check_growth(&mut reader, app, &scene.instance, change).await?;
    room(app, &scene.instance, change).await?;
    if !(change.removes() > 0 || allows_fewer(change)) {
        return Ok((scene, None));
    }
    let leaving = leaving_of(change, &scene);
    let (instance, servers) = (&scene.instance, &scene.servers);
    let placement = placement::read(app, instance, servers, &leaving, change.disk_gb()).await?;
    fits(&placement, change)?;
    Ok((scene, Some(placement)))
}

/// What was checked is what the instance still is.
pub fn unchanged(seen: &Instance, now: &Instance) -> Result<()> {
    let same = |it: &Instance| (it.generation, it.plan.clone(), it.disk_size, it.stopped);
    if same(seen) == same(now) {
        return Ok(());
    }
    let sentence = "Something else was asked of the instance at the same moment; try again";
    Err(Error::Refused(sentence.into()))
}

/// Replicas are moved from and to servers that run. Of those that leave, others may have all
/// replicas; one that stays and is down may never run again, and the change would wait for it.
pub async fn staying_servers_run(
    app: &App,
    scene: &Scene,
    leaving: &[&Server],
    run: &mut impl Run,
) -> Result<()> {
    let stopped = scene.servers.iter().filter(|server| server.wanted.is_stopped());
    let stopped: Vec<&str> = stopped.map(|server| server.name.as_str()).collect();
    if !stopped.is_empty() {
        let names = stopped.join(", ");
        return Err(Error::Refused(format!(
            "Replicas can't be moved while servers are stopped: {names}; use actions/start"
        )));
    }
    let stays = |server: &Server| !leaving.iter().any(|leaving| leaving.id == server.id);
    let all = servers::list(run, scene.instance.id).await?;
    let down = all.iter().filter(|it| stays(&it.server) && is_down(it, app.now()));
    let down: Vec<&str> = down.map(|record| record.server.name.as_str()).collect();
    if down.is_empty() {
        return Ok(());
    }
    Err(Error::Refused(format!(
        "Replicas can't be moved while servers that stay don't run: {}; try again once they do",
        down.join(", ")
    )))
}

fn single_copy(change: &ServerChange) -> Result<()> {
    if change.plan.nodes > 1 || change.nodes_before == 1 || change.accept_single_copy {
        return Ok(());
    }
    Err(Error::Refused(format!(
        "Of {} servers one would be left, with one copy of everything; if that is meant, send \
         accept_single_copy: true",
        change.nodes_before
    )))
}

async fn room(app: &App, instance: &Instance, change: &ServerChange) -> Result<()> {
    let Some(room) = &app.cloud(&instance.region)?.room else { return Ok(()) };
    let growth = Growth {
        from: change.from.as_ref(),
        servers_before: change.nodes_before,
        plan: &change.plan,
        disk_before: change.disk_before,
        disk_gb: change.disk_gb(),
    };
    room.check_growth(&growth).await.map_err(Into::into)
}

/// Whether the new plan has room for fewer partitions than the one before.
fn allows_fewer(change: &ServerChange) -> bool {
    change.from.as_ref().is_none_or(|from| most_replicas(&change.plan) < most_replicas(from))
}

fn most_replicas(plan: &Plan) -> u64 {
    u64::from(plan.family.partitions) * u64::from(plan.nodes)
}

/// How many replicas partitions are to have, and where.
pub fn aim(change: &ServerChange) -> Aim {
    if change.removes() > 0 {
        Aim::shrink(change.plan.nodes as usize, change.accept_single_copy)
    } else {
        Aim::grow(change.nodes_before as usize, change.raise_replication)
    }
}

/// Fails if the servers that stay can't hold what there is.
fn fits(placement: &Placement, change: &ServerChange) -> Result<()> {
    let aim = aim(change);
    if change.removes() > 0 {
        all_have_leaders(&placement.cluster)?;
    }
    if change.removes() > 0
        && let Err(refusals) = mover::check(&placement.cluster, &aim)
    {
        let refusals: Vec<String> = refusals.iter().map(|it| placement.said(it)).collect();
        let sentence = format!("Nothing was changed: {}", FirstFew::many(refusals));
        return Err(Error::Refused(sentence));
    }
    let (has, most) = (replicas(&placement.cluster, &aim), most_replicas(&change.plan));
    if !allows_fewer(change) || has <= most {
        return Ok(());
    }
    Err(Error::Refused(format!(
        "Nothing was changed: plan {} allows {most} partition replicas in all, and topics would \
         have {has}; delete topics, or take a larger plan",
        change.plan.name
    )))
}

/// What nobody leads can't be copied, and the servers that have it may be gone.
fn all_have_leaders(cluster: &Cluster) -> Result<()> {
    let leaderless = cluster.partitions.iter().filter(|it| it.leader.is_none());
    let names: Vec<String> = leaderless.map(|it| it.name().to_string()).collect();
    if names.is_empty() {
        return Ok(());
    }
    Err(Error::Refused(format!(
        "Nothing was changed: no server leads {}, so what it holds can't be moved; start the \
         servers that have it, or delete the topic",
        FirstFew::many(names)
    )))
}

/// Of the customer's topics, once the change is over.
fn replicas(cluster: &Cluster, aim: &Aim) -> u64 {
    let staying = cluster.staying().count();
    let own = cluster.partitions.iter().filter(|it| !it.topic.starts_with("__"));
    own.map(|it| aim.replicas(it, it.settled().len(), staying) as u64).sum()
}
