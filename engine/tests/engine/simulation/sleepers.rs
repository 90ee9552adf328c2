//! Workers that fall asleep at any point of any step for longer than their
//! lease, while another takes over, and then go on with what they had in mind:
//! every step has one effect, and the end is the same.

use super::crash_points::{LIFE, Life, Mind, Stage, comes, points};
use super::gate::{self, Point};
use super::plane::{Plane, Went};
use super::sim::Sim;
use crate::rows::Rows;
use cloud::Effect;
use engine::{PassError, Rest};
use model::{Clock as _, Secret};
use store::instances;

const LEASE_SECONDS: i64 = 60;

/// How far the other worker has come when the sleeper wakes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Other {
    /// It has the lease, and nobody else knows of that.
    Begun,
    /// It has done one thing.
    Turned,
    Settled,
}

/// The sleeper goes on until it finds that the instance is not its own any more.
async fn wakes(sleeper: &mut Plane, life: &Life<'_>) -> Result<(), String> {
    let mut woke = sleeper.wake().await;
    if matches!(woke, Went::On) {
        // The step had nothing to write; the next look ends it.
        woke = sleeper.turn(life.sim.id()).await;
    }
    match woke {
        Went::Failed(PassError::Store(store::Error::LeaseLost(_))) | Went::Rested(Rest::Gone) => {
            Ok(())
        }
        went => Err(format!("it goes on: {went:?}")),
    }
}

/// One stage of a life in which a worker sleeps. Whether it came to the point.
async fn stage(
    life: &mut Life<'_>,
    point: Point,
    mind: Mind,
    other: Other,
) -> Result<bool, String> {
    life.sim.die_at_once().await;
    let mut sleeper = life.sim.plane();
    sleeper.gate.freeze_at(point);
    if !life.work_until_frozen(&mut sleeper).await? {
        return Ok(false);
    }
    life.sim.advance(LEASE_SECONDS + 1);
    life.change(mind).await;
    let id = life.sim.id();
    let mut awake = life.sim.other_plane();
    match other {
        Other::Begun => awake.begin(id).await,
        Other::Turned => drop(awake.turn(id).await),
        Other::Settled => life.sim.settle(&mut awake).await?,
    }
    life.sim.check().await?;
    let before = life.sim.cloud.effects().len();
    wakes(&mut sleeper, life).await?;
    let did = life.sim.cloud.effects().split_off(before);
    // A network that nobody can join any more is never removed too late.
    let late = did.iter().any(|effect| !matches!(effect, Effect::NetworkRemoved(_)));
    if other != Other::Begun && late {
        return Err(format!("the sleeper did {did:?}"));
    }
    life.sim.check().await?;
    life.sim.settle(&mut awake).await?;
    Ok(true)
}

async fn live(
    life: &mut Life<'_>,
    point: Point,
    mind: Mind,
    other: Other,
) -> Result<usize, String> {
    let mut slept = 0;
    for at in LIFE {
        if life.is_there().await {
            at.begin(life.sim.rows, life.sim.id()).await;
            let came = stage(life, point, mind, other).await;
            slept += usize::from(came.map_err(|what| format!("{at:?}: {what}"))?);
            if at == Stage::Made {
                life.sim.make_topic().await;
            }
        }
    }
    if life.is_there().await {
        // Its last stage was slept through in favour of another mind.
        Stage::Deleted.begin(life.sim.rows, life.sim.id()).await;
        let mut plane = life.sim.plane();
        life.sim.advance(LEASE_SECONDS + 1);
        life.sim.settle(&mut plane).await?;
    }
    life.sim.check().await.map(|()| slept)
}

async fn every_point(servers: u32, mind: Mind, other: Other) {
    let rows = Rows::new().await;
    for point in points() {
        let mut life = Life::new(&rows, servers).await;
        let slept = live(&mut life, point, mind, other).await;
        let slept = slept.unwrap_or_else(|what| panic!("{point:?}, {mind:?}, {other:?}: {what}"));
        assert_eq!(slept > 0, comes(point, servers), "{point:?}: the list of steps is out of date");
    }
    let left = store::servers::taken_listeners(&mut rows.store.reader()).await.unwrap();
    assert_eq!(left, [], "addresses are left");
}

#[tokio::test]
async fn slept_through_at_any_point_a_step_has_one_effect() {
    every_point(3, Mind::Same, Other::Settled).await;
}

#[tokio::test]
async fn slept_through_while_it_is_stopped_or_started_it_stays_so() {
    every_point(1, Mind::Other, Other::Settled).await;
}

#[tokio::test]
async fn slept_through_while_it_is_deleted_nothing_is_left() {
    every_point(1, Mind::Deleted, Other::Settled).await;
}

#[tokio::test]
async fn woken_when_the_other_has_just_begun_it_ends_the_same() {
    for mind in [Mind::Other, Mind::Deleted] {
        every_point(1, mind, Other::Begun).await;
    }
}

#[tokio::test]
async fn woken_in_the_middle_of_the_others_work_it_does_nothing() {
    for mind in [Mind::Same, Mind::Other] {
        every_point(1, mind, Other::Turned).await;
    }
}

/// As the use case does.
async fn rotate(sim: &Sim<'_>, text: &str) -> Secret {
    let password = Secret::new(text);
    let mut work = sim.rows.store.begin().await.unwrap();
    instances::set_password(&mut work, sim.id(), &password).await.unwrap();
    instances::wake(&mut work, sim.id(), sim.rows.clock.now()).await.unwrap();
    work.commit().await.unwrap();
    password
}

async fn until_known(sim: &mut Sim<'_>, plane: &mut Plane, password: &Secret) {
    let mut went = Went::On;
    for _ in 0..10 {
        went = plane.pass(sim.id()).await;
        if sim.kafka.knows(&sim.instance.username, password) {
            return;
        }
        sim.agents_step().await;
        sim.advance(1);
    }
    panic!("it is never written: {went:?}");
}

#[tokio::test]
async fn a_password_from_before_that_is_written_late_does_not_stay() {
    let rows = Rows::new().await;
    let mut sim = Sim::new(&rows, 1, 1).await;
    let mut sleeper = sim.plane();
    sim.settle(&mut sleeper).await.unwrap();
    let before = rotate(&sim, "rotated").await;
    sleeper.gate.freeze_at(Point::Before(gate::Effect::SetUser));
    let went = sleeper.pass(sim.id()).await;
    assert!(matches!(went, Went::Frozen), "{went:?}");

    sim.advance(LEASE_SECONDS + 1);
    let last = rotate(&sim, "rotated again").await;
    let mut awake = sim.other_plane();
    until_known(&mut sim, &mut awake, &last).await;
    let woke = sleeper.wake().await;
    let is_lost = matches!(woke, Went::Failed(PassError::Store(store::Error::LeaseLost(_))));
    assert!(is_lost, "{woke:?}");
    assert!(sim.kafka.knows(&sim.instance.username, &before), "no fence keeps it out");
    until_known(&mut sim, &mut awake, &last).await;
}
