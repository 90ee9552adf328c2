//! What each server should be, as the document its agent gets. Pure.

use crate::world::{Life, ServerView, World};
use model::condition::Doing;
use model::{Disk, DiskState, ServerState};
use std::collections::BTreeMap;
use wire::agent::{
    CERTIFICATES, Desired, DesiredCertificate, DesiredDisk, Format, Phase, Report, Run,
};

/// The key pair for brokers and controllers, and the one for customers.
pub const INTERNAL: &str = CERTIFICATES[0];
pub const SERVER: &str = CERTIFICATES[1];

/// Whether the agent has been told something else than it should be told now.
pub fn differs(world: &World, view: &ServerView) -> bool {
    document(world, view, view.certificates()).is_some_and(|wanted| {
        let told = view.desired.as_ref();
        told.is_none_or(|told| Desired { revision: wanted.revision, ..told.clone() } != wanted)
    })
}

/// The document with these certificates, under the next revision. None while
/// the server has no disk or no rendered configuration.
pub fn document(
    world: &World,
    view: &ServerView,
    certificates: Vec<DesiredCertificate>,
) -> Option<Desired> {
    let disk = view.disk.as_ref()?;
    Some(Desired {
        revision: view.revision + 1,
        store_epoch: world.store_epoch,
        server_id: view.server.id,
        incarnation: view.server.incarnation,
        instance_id: world.instance.id,
        node_id: view.server.node_id,
        roles: view.server.roles.clone(),
        cluster_id: world.instance.cluster_id.clone(),
        disk: DesiredDisk {
            id: disk.id,
            directory_id: disk.directory_id.clone(),
            format: format(world, view, disk),
        },
        run: run(world, view),
        launch: launch(world, view),
        rehearse: rehearse(world, view),
        broker: Some(view.broker.clone()?),
        certificates,
        trust: BTreeMap::from([
            ("internal".to_owned(), world.trust.internal.clone()),
            ("clients".to_owned(), world.trust.clients.clone()),
        ]),
        revoked: world.trust.revoked.clone(),
    })
}

impl ServerView {
    /// Certificates as they stand: issued where they are, wanted where not.
    pub(crate) fn certificates(&self) -> Vec<DesiredCertificate> {
        let generation = self.server.certificate_generation;
        CERTIFICATES
            .iter()
            .map(|name| {
                self.certificate(name).cloned().unwrap_or_else(|| DesiredCertificate {
                    name: (*name).to_owned(),
                    generation,
                    certificate: None,
                })
            })
            .collect()
    }
}

/// Whether the broker shall run. Servers without a controller are held back
/// until most controllers run: they could do nothing but wait, and take the
/// processor from those they wait for. One controller that can't start, for want
/// of its disk, holds no server back. One that was told to run goes on.
fn run(world: &World, view: &ServerView) -> Run {
    let runs_already = view.desired.as_ref().is_some_and(|told| told.run == Run::Running);
    if view.server.wanted.is_stopped() && (!runs_already || is_free(world, view)) {
        return Run::Stopped;
    }
    let may = !world.instance.stopped;
    if may && (runs_already || view.server.is_controller() || world.quorum_has(ServerView::is_up)) {
        Run::Running
    } else {
        Run::Stopped
    }
}

/// The launch that its broker shall be of. A broker that runs is told of a higher
/// one only when its turn has come, and of a lower one when that was taken back: its
/// agent has no more to ask for.
fn launch(world: &World, view: &ServerView) -> i64 {
    let told = view.desired.as_ref().filter(|_| !is_free(world, view));
    told.map_or(view.server.wanted.launch(), |told| told.launch.min(view.server.wanted.launch()))
}

/// Whether the JVM of its next broker shall be warmed up: while another broker stops or
/// starts, that of the server that may be next. It is a guess, because the active controller
/// is unknown then, and a wrong one costs memory alone. What was begun goes on until its turn.
fn rehearse(world: &World, view: &ServerView) -> bool {
    let is_told = |view: &ServerView| view.desired.as_ref().is_some_and(|told| told.rehearse);
    let is_due = |view: &&ServerView| view.life() == Life::Due(Doing::Restarting);
    let is_next = || {
        let moves = |report: &Report| matches!(report.phase, Phase::Stopping | Phase::Starting);
        let is_away = |other: &ServerView| {
            other.life() == Life::Coming && other.report.as_ref().is_some_and(moves)
        };
        let mut due = world.servers.iter().filter(is_due);
        world.servers.iter().any(is_away)
            && due.clone().all(|other| !is_told(other))
            && due.next().is_some_and(|first| first.server.id == view.server.id)
    };
    match view.life() {
        _ if world.instance.stopped => false,
        // At its turn its agent has what was warmed up, and its next broker needs no other.
        Life::Due(Doing::Restarting) => is_told(view) || is_next(),
        _ => false,
    }
}

/// Whether its broker may be touched: its turn has come, or nothing runs there.
fn is_free(world: &World, view: &ServerView) -> bool {
    let turn = world.ticket.as_ref().and_then(|ticket| ticket.server_id);
    turn == Some(view.server.id) || view.is_down() || view.server.state != ServerState::Made
}

/// Leave to format is part of the document only between the two moves of the
/// disk's row. The first controllers are named to one another alone: given them,
/// Kafka's tool picks a directory id for any other server, against the saved one.
fn format(world: &World, view: &ServerView, disk: &Disk) -> Option<Format> {
    let founds = disk.founding && view.server.is_controller();
    let initial_controllers = if founds { initial_controllers(world) } else { Vec::new() };
    (disk.state == DiskState::Formatting).then_some(Format { initial_controllers })
}

/// `<node id>@<host>:<port>:<directory id>` of every controller.
fn initial_controllers(world: &World) -> Vec<String> {
    world
        .servers
        .iter()
        .filter(|view| view.server.is_controller())
        .filter(|view| view.disk.as_ref().is_some_and(|disk| disk.founding))
        .filter_map(|view| {
            let listener = &view.server.listeners.controller;
            let (host, port) = (&listener.advertised_host, listener.port);
            let directory = &view.disk.as_ref()?.directory_id;
            Some(format!("{}@{host}:{port}:{directory}", view.server.node_id))
        })
        .collect()
}
