//! What is asked or taken back in the middle of a step, or while a pass is about to rest:
//! what the engine writes then does not undo it.

use crate::world::World;
use async_trait::async_trait;
use engine::{Moment, Step, Witness};
use model::*;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use store::{Store, Work, actions, disk_guards, instances, servers};

const ASKED: &str = "waiting: server 2 is to stop";

#[derive(Clone, Copy)]
enum Does {
    /// Asks for a stop of this server.
    Stop(ServerId),
    /// Takes back what was asked, of which nothing has begun.
    Cancel,
    /// Has the status say something else.
    Says,
}

/// Somebody who does that once, at that moment.
struct Somebody {
    store: Store,
    id: InstanceId,
    now: Timestamp,
    /// None: when a pass is about to rest.
    at: Option<Step>,
    does: Does,
    has_done: AtomicBool,
}

impl Somebody {
    fn new(world: &World, id: InstanceId, at: Option<Step>, does: Does) -> Arc<Self> {
        let (store, now) = (world.store.clone(), world.clock.now());
        Arc::new(Self { store, id, now, at, does, has_done: AtomicBool::new(false) })
    }

    async fn asks(&self, work: &mut Work) {
        let asked = vec![Reason::ToStop.of(2)];
        instances::set_conditions(work, self.id, asked, self.now).await.unwrap();
    }

    /// As the use cases do, in one transaction.
    async fn act(&self) {
        if self.has_done.swap(true, Ordering::Relaxed) {
            return;
        }
        let mut work = self.store.begin().await.unwrap();
        match self.does {
            Does::Stop(server) => {
                let row = servers::find_bare(&mut work, server).await.unwrap().unwrap();
                let wanted = row.wanted.stop().unwrap();
                servers::set_wanted(&mut work, server, wanted).await.unwrap();
                instances::raise(&mut work, self.id, self.now).await.unwrap();
                self.asks(&mut work).await;
            }
            Does::Cancel => {
                for record in servers::list(&mut work, self.id).await.unwrap() {
                    let wanted = record.server.wanted.take_back(0);
                    servers::set_wanted(&mut work, record.server.id, wanted).await.unwrap();
                }
                for action in actions::open(&mut work, self.id).await.unwrap() {
                    actions::end_one(&mut work, action.id, self.now).await.unwrap();
                    let generation = action.generation;
                    instances::take_back_intent(&mut work, self.id, generation).await.unwrap();
                }
            }
            Does::Says => self.asks(&mut work).await,
        }
        instances::wake(&mut work, self.id, self.now).await.unwrap();
        work.commit().await.unwrap();
    }
}

#[async_trait]
impl Witness for Somebody {
    async fn sees(&self, step: Step, moment: Moment) {
        if moment == Moment::Begins && self.at == Some(step) {
            self.act().await;
        }
    }

    async fn sees_rest(&self) {
        if self.at.is_none() {
            self.act().await;
        }
    }
}

/// Turns until somebody has done that and the turn in which it happened is over.
async fn through(world: &World, id: InstanceId, somebody: &Arc<Somebody>) -> Instance {
    let engine = world.engine().witnessed(somebody.clone());
    for _ in 0..60 {
        let mut pass = engine.begin_pass(id).await.unwrap().unwrap();
        loop {
            let rest = engine.turn(&mut pass).await.unwrap();
            if somebody.has_done.load(Ordering::Relaxed) {
                return world.instance(id).await.unwrap();
            }
            if rest.is_some() {
                break;
            }
        }
        world.agents(id).await;
        world.clock.advance(SignedDuration::from_secs(2));
    }
    panic!("the moment never came: {:?}", world.instance(id).await.map(|it| it.progress));
}

/// Three servers that run, and the second of them.
async fn running() -> (World, InstanceId, ServerId) {
    let world = World::new().await;
    let id = world.create(3).await;
    world.run(&world.engine(), id).await;
    let server = world.servers(id).await[1].server.id;
    (world, id, server)
}

#[tokio::test]
async fn a_stop_that_is_asked_for_during_a_step_stays_in_the_status() {
    for step in [Step::SetCredentials, Step::Reach] {
        let (world, id, server) = running().await;
        let mut work = world.store.begin().await.unwrap();
        instances::set_password(&mut work, id, &Secret::new("another")).await.unwrap();
        instances::raise(&mut work, id, world.clock.now()).await.unwrap();
        work.commit().await.unwrap();
        let somebody = Somebody::new(&world, id, Some(step), Does::Stop(server));
        let Instance { generation, progress, .. } = through(&world, id, &somebody).await;
        assert_eq!(progress.status(), ASKED, "during {step:?}");
        let reached = if step == Step::Reach { generation - 1 } else { generation - 2 };
        assert_eq!(progress.observed_generation, reached, "of what was asked before");
        assert_eq!(progress.kafka_observed, 1, "and the step itself is noted");
    }
}

/// The steps that were begun, in order.
#[derive(Default)]
struct Steps(Mutex<Vec<Step>>);

#[async_trait]
impl Witness for Steps {
    async fn sees(&self, step: Step, moment: Moment) {
        if moment == Moment::Begins {
            self.0.lock().unwrap().push(step);
        }
    }

    async fn sees_rest(&self) {}
}

#[tokio::test]
async fn a_restart_asked_for_before_a_password_is_written_comes_after_it() {
    let (world, id, server) = running().await;
    let mut work = world.store.begin().await.unwrap();
    instances::set_password(&mut work, id, &Secret::new("another")).await.unwrap();
    instances::wake(&mut work, id, world.clock.now()).await.unwrap();
    work.commit().await.unwrap();
    assert!(world.instance(id).await.unwrap().configured(), "a restart may be asked for");
    world.restart(id, &[server]).await;
    let steps = Arc::new(Steps::default());
    world.run(&world.engine().witnessed(steps.clone()), id).await;
    let now = world.instance(id).await.unwrap();
    assert!(world.kafka.knows(&now.username, &Secret::new("another")));
    assert_eq!(world.servers(id).await[1].server.wanted.launch(), 1);
    let steps = steps.0.lock().unwrap();
    let at = |step| steps.iter().position(|it| *it == step).unwrap_or_else(|| panic!("{steps:?}"));
    assert!(at(Step::SetCredentials) < at(Step::OpenTicket(Some(server))), "{steps:?}");
}

/// Otherwise `configured` would read true, and then false again.
#[tokio::test]
async fn what_was_taken_back_during_a_step_stays_reached() {
    let (world, id, server) = running().await;
    world.restart(id, &[server]).await;
    let guard = DiskGuard {
        instance_id: id,
        server_id: server,
        level: DiskLevel::Slowed,
        since: world.clock.now(),
    };
    let mut work = world.store.begin().await.unwrap();
    disk_guards::set(&mut work, &guard).await.unwrap();
    work.commit().await.unwrap();
    let somebody = Somebody::new(&world, id, Some(Step::SetCredentials), Does::Cancel);
    let now = through(&world, id, &somebody).await;
    assert!(now.configured(), "{:?}", now.progress);
}

#[tokio::test]
async fn what_is_asked_before_a_pass_rests_stays_in_the_status() {
    for is_stop in [true, false] {
        let (world, id, server) = running().await;
        let does = if is_stop { Does::Stop(server) } else { Does::Says };
        let mut work = world.store.begin().await.unwrap();
        let told = vec![Reason::ControlPlaneStarted.into()];
        instances::set_conditions(&mut work, id, told, world.clock.now()).await.unwrap();
        work.commit().await.unwrap();
        let somebody = Somebody::new(&world, id, None, does);
        assert_eq!(through(&world, id, &somebody).await.progress.status(), ASKED);
    }
}
