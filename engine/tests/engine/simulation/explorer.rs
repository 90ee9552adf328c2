//! Thousands of schedules by chance: everything that can go wrong, in any
//! order, with the invariants checked after every event.
//!
//! `CASTELLAN_SEED` is the first schedule's seed, the others count on from it;
//! `CASTELLAN_SCHEDULES` says how many. A failure prints its own seed, and what
//! a seed does depends on nothing else.

use super::dice::Dice;
use super::plane::{Plane, Went};
use super::sim::Sim;
use crate::rows::Rows;
use cloud::{Call, Fault};
use engine::PassError;
use kafka::simulated::Fault as KafkaFault;
use model::{ActionKind, SignedDuration};
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
use std::num::NonZero;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

const EVENTS: usize = 25;
const SCHEDULES: (u64, u64) = (250, 4000);
const CALLS: [Call; 8] = [
    Call::TakeOver,
    Call::Retire,
    Call::EnsureNetwork,
    Call::EnsureDisk,
    Call::EnsureServer,
    Call::RemoveServer,
    Call::RemoveDisk,
    Call::RemoveNetwork,
];
const FAULTS: [Fault; 4] = [Fault::Pending, Fault::Retry, Fault::LostReply, Fault::GiveUp];

#[derive(Clone, Copy, Debug)]
enum Event {
    Turn,
    Pass,
    OtherTurn,
    OtherPass,
    Agents,
    Agent,
    Crash,
    CrashMidway,
    SleepMidway,
    OtherSleepsMidway,
    Wake,
    KillAgent,
    KillBroker,
    SlowAgent,
    StaleAgent,
    LostAnswer,
    OldReport,
    CloudFault,
    KafkaFault,
    StaleBroker,
    Time,
    PastLease,
    Stop,
    Start,
    Restart,
    StopServer,
    StartServer,
    ReEnrol,
    Delete,
}

/// How often, compared with the others.
const WEIGHTS: [(Event, usize); 29] = [
    (Event::Turn, 12),
    (Event::Pass, 14),
    (Event::OtherTurn, 3),
    (Event::OtherPass, 4),
    (Event::Agents, 26),
    (Event::Agent, 6),
    (Event::Crash, 3),
    (Event::CrashMidway, 5),
    (Event::SleepMidway, 4),
    (Event::OtherSleepsMidway, 2),
    (Event::Wake, 3),
    (Event::KillAgent, 3),
    (Event::KillBroker, 3),
    (Event::SlowAgent, 2),
    (Event::StaleAgent, 2),
    (Event::LostAnswer, 2),
    (Event::OldReport, 3),
    (Event::CloudFault, 5),
    (Event::KafkaFault, 3),
    (Event::StaleBroker, 2),
    (Event::Time, 4),
    (Event::PastLease, 3),
    (Event::Stop, 5),
    (Event::Start, 5),
    (Event::Restart, 4),
    (Event::StopServer, 2),
    (Event::StartServer, 3),
    (Event::ReEnrol, 2),
    (Event::Delete, 1),
];

struct Explorer<'a> {
    dice: Dice,
    sim: Sim<'a>,
    /// The control plane of the instance's host, and one of another.
    ours: Plane,
    other: Plane,
}

impl<'a> Explorer<'a> {
    async fn new(rows: &'a Rows, seed: u64) -> Self {
        let dice = Dice::new(seed);
        let servers = dice.pick(&[1, 1, 1, 1, 3, 3, 3, 3, 3, 5]).unwrap();
        let sim = Sim::new(rows, servers, seed).await;
        let (ours, other) = (sim.plane(), sim.other_plane());
        Self { dice, sim, ours, other }
    }

    fn draw(&self) -> Event {
        let all: usize = WEIGHTS.iter().map(|(_, weight)| weight).sum();
        let mut left = self.dice.roll(all);
        for (event, weight) in WEIGHTS {
            if left < weight {
                return event;
            }
            left -= weight;
        }
        unreachable!("the roll is below the sum")
    }

    async fn happen(&mut self, event: Event) -> Result<(), String> {
        let id = self.sim.id();
        let at = self.dice.roll(self.sim.servers.len());
        match event {
            Event::Turn => return ended(self.ours.turn(id).await),
            Event::Pass => return ended(self.ours.pass(id).await),
            Event::OtherTurn => return ended(self.other.turn(id).await),
            Event::OtherPass => return ended(self.other.pass(id).await),
            Event::CrashMidway => {
                ended(self.freeze(false).await)?;
                if self.ours.is_frozen() {
                    self.ours = self.sim.plane();
                }
            }
            Event::SleepMidway => return ended(self.freeze(false).await),
            Event::OtherSleepsMidway => return ended(self.freeze(true).await),
            Event::Wake => return self.wake().await,
            Event::Crash => self.ours = self.sim.plane(),
            Event::Agents => {
                self.sim.advance(1);
                self.sim.agents_step().await;
            }
            Event::Agent => {
                let Sim { rows, reach, cloud, ground, agents, servers, .. } = &mut self.sim;
                let mut reader = rows.store.reader();
                let record = store::servers::find(&mut reader, servers[at]).await.unwrap();
                agents[at].step(rows, reach, cloud, ground, record).await;
            }
            Event::KillAgent => self.sim.kill_agent(at),
            Event::KillBroker => self.sim.kill_broker(at),
            Event::SlowAgent => self.sim.agents[at].slow = 3,
            Event::StaleAgent => self.sim.agents[at].stale = 2,
            Event::LostAnswer => self.sim.agents[at].lose_reply = true,
            Event::OldReport => {
                let which = self.dice.roll(50);
                self.sim.agents[at].repeat_old_report(self.sim.rows, which).await;
            }
            Event::CloudFault => self.break_cloud(),
            Event::KafkaFault => self.break_kafka(),
            Event::StaleBroker => {
                let seconds = 1 + i64::try_from(self.dice.roll(10)).unwrap();
                self.sim.kafka.hold_view(self.sim.nodes[at], SignedDuration::from_secs(seconds));
            }
            Event::Time => self.sim.advance(1 + i64::try_from(self.dice.roll(20)).unwrap()),
            Event::PastLease => self.sim.advance(61),
            Event::Stop => self.sim.rows.stop(id, true).await,
            Event::Start => self.sim.rows.stop(id, false).await,
            Event::Restart if self.nothing_is_open(None).await => {
                self.sim.rows.restart(id, &[]).await;
            }
            Event::StopServer => self.stop_server(at).await,
            Event::StartServer if self.nothing_is_open(Some(ActionKind::Stop)).await => {
                self.start_servers().await;
            }
            // Refused.
            Event::Restart | Event::StartServer => {}
            Event::ReEnrol => self.sim.rows.re_enrol(id, &[self.sim.servers[at]]).await,
            Event::Delete => self.sim.rows.delete(id).await,
        }
        Ok(())
    }

    /// Nothing else is accepted while an action is open, but one that undoes it.
    async fn nothing_is_open(&self, but: Option<ActionKind>) -> bool {
        let mut reader = self.sim.rows.store.reader();
        let open = store::actions::open(&mut reader, self.sim.id()).await.unwrap();
        open.iter().all(|action| Some(action.kind) == but)
    }

    /// As the API lets it happen: everybody serves, so the others can do without it.
    async fn stop_server(&mut self, at: usize) {
        let (id, server) = (self.sim.id(), self.sim.servers[at]);
        let rows = self.sim.rows.servers(id).await;
        let alone = rows.iter().all(|record| !record.server.wanted.is_stopped());
        let free = self.nothing_is_open(Some(ActionKind::Start)).await;
        if rows.len() > 1 && alone && free && self.sim.lets_in().await {
            self.sim.rows.stop_server(id, server, true).await;
        }
    }

    async fn start_servers(&mut self) {
        let id = self.sim.id();
        for record in self.sim.rows.servers(id).await {
            if record.server.wanted.is_stopped() {
                self.sim.ground.lock().unwrap().comes_back(record.server.id);
                self.sim.rows.stop_server(id, record.server.id, false).await;
            }
        }
    }

    /// Stands still in the middle of a pass, wherever that is.
    async fn freeze(&mut self, other: bool) -> Went {
        let plane = if other { &mut self.other } else { &mut self.ours };
        plane.gate.freeze_after(self.dice.roll(8));
        let went = plane.pass(self.sim.id()).await;
        plane.gate.never_freeze();
        went
    }

    /// Whoever sleeps goes on with what it had in mind.
    async fn wake(&mut self) -> Result<(), String> {
        ended(self.ours.wake().await)?;
        self.sim.check().await?;
        ended(self.other.wake().await)
    }

    fn break_cloud(&self) {
        let (call, fault) = (self.dice.pick(&CALLS).unwrap(), self.dice.pick(&FAULTS).unwrap());
        self.sim.cloud.fail_next(call, fault, 1 + self.dice.roll(2));
    }

    fn break_kafka(&self) {
        let faults = [KafkaFault::Refused, KafkaFault::Slow, KafkaFault::LostReply];
        self.sim.kafka.fail_next(self.dice.pick(&faults).unwrap(), 1 + self.dice.roll(2));
    }

    /// After all that the instance gets where it should be, and then away; some
    /// are deleted wherever they are.
    async fn end(&mut self) -> Result<(), String> {
        self.wake().await?;
        self.sim.check().await?;
        self.sim.advance(61);
        self.ours = self.sim.plane();
        // A roll holds for a server that shall not run.
        self.start_servers().await;
        if self.dice.roll(3) > 0 {
            self.sim.settle(&mut self.ours).await?;
        }
        self.sim.rows.delete(self.sim.id()).await;
        self.sim.settle(&mut self.ours).await?;
        let rows = self.sim.rows;
        let left = store::servers::taken_listeners(&mut rows.store.reader()).await.unwrap();
        let vpc =
            store::vpcs::find(&mut rows.store.reader(), self.sim.instance.vpc_id).await.unwrap();
        if !left.is_empty() || vpc.is_some() || rows.instance(self.sim.id()).await.is_some() {
            return Err(format!("rows are left: {left:?} {vpc:?}"));
        }
        Ok(())
    }
}

/// Losing the instance to another worker is how it should be.
pub fn ended(went: Went) -> Result<(), String> {
    match went {
        Went::Failed(PassError::Store(store::Error::LeaseLost(_)))
        | Went::On
        | Went::Rested(_)
        | Went::Frozen => Ok(()),
        Went::Failed(error) => Err(format!("a pass failed: {error}")),
    }
}

async fn explore(rows: &Rows, seed: u64, log: &mut Vec<Event>) -> Result<(), String> {
    let mut explorer = Explorer::new(rows, seed).await;
    if explorer.dice.roll(2) == 0 {
        explorer.sim.settle(&mut explorer.ours).await?;
    }
    for _ in 0..EVENTS {
        let event = explorer.draw();
        log.push(event);
        explorer.happen(event).await?;
        explorer.sim.check().await?;
    }
    explorer.end().await
}

/// Keeps this thread and those it starts, which are its store's, on one
/// processor: they only ever wait for each other, and waking a neighbour costs
/// more than the work. Where that is not allowed it is only slower.
fn stay_on_one_processor(number: usize) {
    let Ok(allowed) = sched_getaffinity(None) else { return };
    let allowed: Vec<usize> = (0..CpuSet::MAX_CPU).filter(|cpu| allowed.is_set(*cpu)).collect();
    let mut one = CpuSet::new();
    one.set(allowed[number % allowed.len()]);
    let _ = sched_setaffinity(None, &one);
}

/// The schedules of these seeds, one after another in one store.
#[tokio::main(flavor = "current_thread")]
async fn explore_all(
    seeds: impl Iterator<Item = u64>,
    failed: &AtomicBool,
    explore: &(impl AsyncFn(&Rows, u64) -> Result<(), String> + Sync),
) {
    let rows = Rows::new().await;
    for seed in seeds {
        if failed.load(Ordering::Relaxed) {
            return;
        }
        if let Err(what) = explore(&rows.again(seed), seed).await {
            failed.store(true, Ordering::Relaxed);
            panic!("CASTELLAN_SEED={seed}: {what}");
        }
    }
}

fn setting(name: &str, otherwise: u64) -> u64 {
    let given = std::env::var(name).ok();
    given.map_or(otherwise, |text| text.parse().expect("a number"))
}

/// So many schedules, in the usual and in the long run, on every processor. The
/// variable `count` says otherwise.
pub fn side_by_side(
    count: &str,
    (usual, long): (u64, u64),
    explore: impl AsyncFn(&Rows, u64) -> Result<(), String> + Sync,
) {
    let every = std::env::var_os("CASTELLAN_TEST_ALL").is_some();
    let first = setting("CASTELLAN_SEED", 1);
    let count = setting(count, if every { long } else { usual });
    let began = std::time::Instant::now();
    let threads = thread::available_parallelism().map_or(1, NonZero::get);
    let failed = AtomicBool::new(false);
    // Each has a store of its own; what a seed does depends on the seed alone.
    thread::scope(|scope| {
        for (thread, from) in (0..threads).zip(first..) {
            let (seeds, failed) = ((from..first + count).step_by(threads), &failed);
            let explore = &explore;
            scope.spawn(move || {
                stay_on_one_processor(thread);
                explore_all(seeds, failed, explore);
            });
        }
    });
    println!("{count} schedules from seed {first} in {:?}", began.elapsed());
}

#[test]
fn whatever_happens_the_invariants_hold_and_the_end_is_reached() {
    side_by_side("CASTELLAN_SCHEDULES", SCHEDULES, async |rows, seed| {
        let mut log = Vec::new();
        let explored = explore(rows, seed, &mut log).await;
        explored.map_err(|what| format!("{what}\nafter {log:?}"))
    });
}
