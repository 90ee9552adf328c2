//! Brokers that hang: they run, answer nobody, and nobody lets them go on. Each can
//! be restarted and stopped, comes first in a roll, keeps the others waiting with its
//! name, and is named in the status while nothing is asked.

use super::plane::{Plane, Went};
use super::sim::Sim;
use crate::create_and_delete::told;
use crate::rows::Rows;
use kafka::simulated::Process;
use model::{Clock as _, InstanceId, ServerId};
use store::{actions, instances, servers};

const ROUNDS: usize = 90;

/// Three servers that run, and some of them hang.
async fn with_unresponsive<'a>(rows: &'a Rows, which: &[usize]) -> (Sim<'a>, Plane) {
    of_so_many(rows, 3, which).await
}

async fn of_so_many<'a>(rows: &'a Rows, servers: u32, which: &[usize]) -> (Sim<'a>, Plane) {
    let mut sim = Sim::new(rows, servers, 1).await;
    let mut plane = sim.plane();
    sim.settle(&mut plane).await.unwrap();
    for at in which {
        sim.freeze_broker(*at);
    }
    (sim, plane)
}

/// Goes on until that is so. Nothing is mended but by what we do.
pub async fn until(
    sim: &mut Sim<'_>,
    plane: &mut Plane,
    done: impl Fn(&str, bool) -> bool,
) -> String {
    for _ in 0..ROUNDS {
        if let Went::Failed(error) = plane.pass(sim.id()).await {
            panic!("a pass failed: {error}");
        }
        sim.agents_step().await;
        sim.check().await.unwrap();
        let now = sim.rows.instance(sim.id()).await.unwrap();
        if done(&now.progress.status(), now.configured()) {
            return now.progress.status();
        }
        sim.advance(1);
    }
    let progress = sim.rows.instance(sim.id()).await.unwrap().progress;
    panic!("it never came: {progress:?}");
}

pub async fn is_reached(sim: &mut Sim<'_>, plane: &mut Plane) {
    until(sim, plane, |status, configured| configured && status.starts_with("running")).await;
    for record in sim.rows.servers(sim.id()).await {
        let broker = sim.ground.lock().unwrap().broker(record.server.id).cloned();
        let launch = broker.map(|broker| broker.launch);
        assert!(
            record.server.wanted.is_stopped() || launch >= Some(record.server.wanted.launch()),
            "{record:?}"
        );
    }
}

/// Takes back what is open from the servers that were not told yet.
pub async fn cancel(rows: &Rows, id: InstanceId) {
    let servers = rows.servers(id).await;
    let mut work = rows.store.begin().await.unwrap();
    for record in servers {
        let told = told(&record).launch;
        let wanted = record.server.wanted.take_back(told);
        servers::set_wanted(&mut work, record.server.id, wanted).await.unwrap();
    }
    for action in actions::open(&mut work, id).await.unwrap() {
        actions::cancel(&mut work, action.id, rows.clock.now()).await.unwrap();
    }
    instances::wake(&mut work, id, rows.clock.now()).await.unwrap();
    work.commit().await.unwrap();
}

#[tokio::test]
async fn one_that_hangs_is_named_and_no_more_once_it_goes_on() {
    let rows = Rows::new().await;
    let (mut sim, mut plane) = with_unresponsive(&rows, &[1]).await;
    let words = "server 2 has not answered its own agent since ";
    let status = until(&mut sim, &mut plane, |status, _| status.starts_with(words)).await;
    let advice = "; if clients get no answer either, restart it with actions/restart";
    assert!(status.contains(advice), "{status}");
    sim.kafka.thaw(sim.nodes[1]);
    until(&mut sim, &mut plane, |status, _| status == "running").await;
}

#[tokio::test]
async fn one_that_hangs_is_restarted() {
    let rows = Rows::new().await;
    let (mut sim, mut plane) = with_unresponsive(&rows, &[1]).await;
    rows.restart(sim.id(), &[sim.servers[1]]).await;
    is_reached(&mut sim, &mut plane).await;
}

#[tokio::test]
async fn one_that_answers_its_agent_alone_is_restarted_by_the_word_of_the_others() {
    let rows = Rows::new().await;
    let (mut sim, mut plane) = with_unresponsive(&rows, &[1]).await;
    sim.agents[1].hears = true;
    rows.restart(sim.id(), &[sim.servers[1]]).await;
    is_reached(&mut sim, &mut plane).await;
}

#[tokio::test]
async fn one_that_hangs_is_stopped() {
    let rows = Rows::new().await;
    let (mut sim, mut plane) = with_unresponsive(&rows, &[1]).await;
    rows.stop_server(sim.id(), sim.servers[1], true).await;
    is_reached(&mut sim, &mut plane).await;
    assert_eq!(sim.ground.lock().unwrap().broker(sim.servers[1]), None);
}

#[tokio::test]
async fn in_a_roll_the_one_that_hangs_comes_first() {
    let rows = Rows::new().await;
    let (mut sim, mut plane) = with_unresponsive(&rows, &[1]).await;
    rows.restart(sim.id(), &[]).await;
    let mut first: Option<ServerId> = None;
    for _ in 0..ROUNDS {
        plane.pass(sim.id()).await;
        sim.agents_step().await;
        sim.check().await.unwrap();
        first = first.or_else(|| sim.ground.lock().unwrap().away.keys().next().copied());
        sim.advance(1);
    }
    assert_eq!(first, Some(sim.servers[1]));
    is_reached(&mut sim, &mut plane).await;
}

#[tokio::test]
async fn two_that_hang_are_restarted_though_nobody_is_left_to_tell_of_the_quorum() {
    let rows = Rows::new().await;
    let (mut sim, mut plane) = with_unresponsive(&rows, &[1, 2]).await;
    rows.restart(sim.id(), &[sim.servers[1], sim.servers[2]]).await;
    is_reached(&mut sim, &mut plane).await;
}

/// The other does not come back by itself: its broker can't be started on its disk.
#[tokio::test]
async fn one_that_hangs_is_restarted_while_another_is_held() {
    let rows = Rows::new().await;
    let (mut sim, mut plane) = of_so_many(&rows, 5, &[3]).await;
    let (hangs, held) = (sim.servers[3], sim.servers[4]);
    let mut disks = std::mem::take(&mut sim.ground.lock().unwrap().disks);
    for disk in disks.values_mut().filter(|disk| disk.server == held) {
        disk.server = ServerId(0);
    }
    sim.ground.lock().unwrap().disks = disks;
    sim.kill_broker(4);
    rows.restart(sim.id(), &[hangs]).await;
    until(&mut sim, &mut plane, |status, _| status.contains("server 5")).await;
    let launch = |sim: &Sim<'_>| sim.ground.lock().unwrap().broker(hangs).map(|it| it.launch);
    for _ in 0..ROUNDS {
        plane.pass(sim.id()).await;
        sim.agents_step().await;
        sim.check().await.unwrap();
        sim.advance(1);
    }
    let progress = rows.instance(sim.id()).await.unwrap().progress;
    assert_eq!(launch(&sim), Some(1), "{progress:?}");
    assert_eq!(sim.ground.lock().unwrap().broker(held), None);
}

/// One of them may only be slow, and is not to be missed with the other.
#[tokio::test]
async fn of_two_that_hang_one_is_back_before_the_other_goes() {
    let rows = Rows::new().await;
    // Where the quorum is gone with them, and where it is not; and where the second
    // goes on meanwhile, which its agent does not hear.
    for (servers, which, goes_on) in [(3, [1, 2], false), (5, [3, 4], false), (3, [1, 2], true)] {
        let (mut sim, mut plane) = of_so_many(&rows, servers, &which).await;
        let both = which.map(|at| sim.servers[at]);
        rows.restart(sim.id(), &both).await;
        let mut was_away = false;
        for _ in 0..ROUNDS {
            plane.pass(sim.id()).await;
            sim.agents_step().await;
            sim.check().await.unwrap();
            let away: Vec<ServerId> = sim.ground.lock().unwrap().away.keys().copied().collect();
            assert!(away.len() < 2, "of {servers} servers {away:?} are away");
            if goes_on && !was_away && away == both[..1] {
                sim.kafka.thaw(sim.nodes[which[1]]);
                sim.agents[which[1]].deaf = true;
            }
            was_away |= !away.is_empty();
            sim.advance(1);
        }
        assert!(was_away, "of {servers} servers");
        sim.agents[which[1]].deaf = false;
        is_reached(&mut sim, &mut plane).await;
    }
}

#[tokio::test]
async fn one_that_only_its_agent_does_not_hear_is_restarted_in_its_turn() {
    let rows = Rows::new().await;
    let (mut sim, mut plane) = with_unresponsive(&rows, &[]).await;
    let active = sim.kafka.active_controller().unwrap();
    let active = sim.nodes.iter().position(|node| *node == active).unwrap();
    sim.agents[active].deaf = true;
    let words = " has not answered its own agent since ";
    until(&mut sim, &mut plane, |status, _| status.contains(words)).await;
    rows.restart(sim.id(), &[]).await;
    let mut order: Vec<ServerId> = vec![];
    for _ in 0..ROUNDS {
        plane.pass(sim.id()).await;
        sim.agents_step().await;
        sim.check().await.unwrap();
        for server in sim.ground.lock().unwrap().away.keys() {
            if !order.contains(server) {
                order.push(*server);
            }
        }
        let now = rows.instance(sim.id()).await.unwrap();
        if now.configured() {
            let status = now.progress.status();
            assert!(status.ends_with(", but answers the control plane"), "{status}");
            break;
        }
        sim.advance(1);
    }
    assert_eq!(order.len(), 3);
    assert_eq!(order[2], sim.servers[active], "the active controller goes last");
}

#[tokio::test]
async fn what_waits_for_one_that_hangs_goes_on_once_that_is_restarted() {
    let rows = Rows::new().await;
    let (mut sim, mut plane) = with_unresponsive(&rows, &[1]).await;
    rows.restart(sim.id(), &[sim.servers[0]]).await;
    let words = "server 2 does not answer; restart that server with actions/restart";
    until(&mut sim, &mut plane, |status, _| status.contains(words)).await;
    assert_eq!(sim.ground.lock().unwrap().brokers.len(), 3, "nobody is touched");
    rows.restart(sim.id(), &[sim.servers[1]]).await;
    is_reached(&mut sim, &mut plane).await;
}

#[tokio::test]
async fn a_restart_is_not_done_while_what_it_restarted_hangs() {
    let rows = Rows::new().await;
    let (mut sim, mut plane) = with_unresponsive(&rows, &[]).await;
    rows.restart(sim.id(), &[sim.servers[1]]).await;
    let is_back = |sim: &Sim<'_>| {
        let launch = sim.ground.lock().unwrap().broker(sim.servers[1]).map(|it| it.launch);
        launch == Some(1) && sim.kafka.process(sim.nodes[1]) == Process::Running
    };
    for _ in 0..ROUNDS {
        plane.pass(sim.id()).await;
        sim.agents_step().await;
        if is_back(&sim) {
            break;
        }
        sim.advance(1);
    }
    sim.freeze_broker(1);
    let words = "server 2 does not answer; restart that server with actions/restart";
    until(&mut sim, &mut plane, |status, configured| {
        assert!(!configured, "it is not done: {status}");
        status.contains(words)
    })
    .await;
    rows.restart(sim.id(), &[sim.servers[1]]).await;
    is_reached(&mut sim, &mut plane).await;
}

/// Its agent hears it, so nobody could ask for its restart meanwhile.
#[tokio::test]
async fn the_others_wait_for_it_by_name_and_what_is_cancelled_ends() {
    let rows = Rows::new().await;
    let (mut sim, mut plane) = with_unresponsive(&rows, &[1]).await;
    sim.agents[1].hears = true;
    rows.restart(sim.id(), &[sim.servers[0]]).await;
    let words = "server 2 does not answer; cancel this action, or start its servers again, \
                 and then restart that server";
    until(&mut sim, &mut plane, |status, _| status.contains(words)).await;
    let before = sim.ground.lock().unwrap().brokers.clone();
    assert_eq!(before.len(), 3, "nobody is touched");

    cancel(&rows, sim.id()).await;
    until(&mut sim, &mut plane, |_, configured| configured).await;
    assert_eq!(sim.ground.lock().unwrap().brokers, before);
    rows.restart(sim.id(), &[sim.servers[1]]).await;
    is_reached(&mut sim, &mut plane).await;
}

#[tokio::test]
async fn a_roll_says_which_server_was_stopped_before_it() {
    let rows = Rows::new().await;
    let (mut sim, mut plane) = with_unresponsive(&rows, &[]).await;
    rows.stop_server(sim.id(), sim.servers[2], true).await;
    is_reached(&mut sim, &mut plane).await;
    rows.restart(sim.id(), &[sim.servers[0]]).await;
    let words = "waiting before restarting server 1: server 3 is stopped as asked; \
                 cancel this action, or start its servers again, and then start server 3; ";
    until(&mut sim, &mut plane, |status, _| status.starts_with(words)).await;
}
