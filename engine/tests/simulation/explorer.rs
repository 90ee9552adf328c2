//! Thousands of schedules by chance: everything that can go wrong, in any
//! order, with the invariants checked after every event.
//!
//! `CASTELLAN_SEED` is the first schedule's seed, the others count on from it;
//! `CASTELLAN_SCHEDULES` says how many. A failure prints its own seed.

use crate::dice::Dice;
use crate::hands::KafkaFault;
use crate::plane::{Plane, Went};
use crate::rows::Rows;
use crate::sim::Sim;
use cloud::{Call, Fault};
use engine::PassError;

const EVENTS: usize = 25;
const SCHEDULES: u64 = 250;
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
    Time,
    PastLease,
    Stop,
    Start,
    Delete,
}

/// How often, compared with the others.
const WEIGHTS: [(Event, usize); 24] = [
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
    (Event::Time, 4),
    (Event::PastLease, 3),
    (Event::Stop, 5),
    (Event::Start, 5),
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
        let sim = Sim::new(rows, servers).await;
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
            Event::Agents => drop(self.sim.agents_step().await),
            Event::Agent => {
                let Sim { rows, cloud, ground, agents, .. } = &mut self.sim;
                agents[at].step(rows, cloud, ground).await;
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
            Event::Time => self.sim.advance(1 + i64::try_from(self.dice.roll(20)).unwrap()),
            Event::PastLease => self.sim.advance(61),
            Event::Stop => self.sim.rows.stop(id, true).await,
            Event::Start => self.sim.rows.stop(id, false).await,
            Event::Delete => self.sim.rows.delete(id).await,
        }
        Ok(())
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
        let fault = self.dice.pick(&[KafkaFault::Refused, KafkaFault::LostReply]).unwrap();
        self.sim.faults.lock().unwrap().push_back(fault);
    }

    /// After all that the instance gets where it should be, and then away; some
    /// are deleted wherever they are.
    async fn end(&mut self) -> Result<(), String> {
        self.wake().await?;
        self.sim.check().await?;
        self.sim.advance(61);
        self.ours = self.sim.plane();
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
fn ended(went: Went) -> Result<(), String> {
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

fn setting(name: &str, otherwise: u64) -> u64 {
    let given = std::env::var(name).ok();
    given.map_or(otherwise, |text| text.parse().expect("a number"))
}

#[tokio::test]
async fn whatever_happens_the_invariants_hold_and_the_end_is_reached() {
    let first = setting("CASTELLAN_SEED", 1);
    let count = setting("CASTELLAN_SCHEDULES", SCHEDULES);
    let began = std::time::Instant::now();
    let rows = Rows::new().await;
    for seed in first..first + count {
        let mut log = Vec::new();
        if let Err(what) = explore(&rows, seed, &mut log).await {
            panic!("CASTELLAN_SEED={seed} CASTELLAN_SCHEDULES=1: {what}\nafter {log:?}");
        }
    }
    println!("{count} schedules from seed {first} in {:?}", began.elapsed());
}
