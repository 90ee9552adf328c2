//! Rolls of clusters of any size with topics of any shape, while servers die,
//! stand still, fall behind and are not heard by their agents: no partition and no
//! quorum falls below what it needs because of us, nobody leaves while a copy of others
//! lags, no acknowledged write is lost, the active controller goes last, and in the end
//! every server has been restarted.
//!
//! `CASTELLAN_SEED` and `CASTELLAN_ROLLS` say which and how many.

use super::dice::Dice;
use super::explorer::{ended, side_by_side};
use super::plane::Plane;
use super::sim::Sim;
use crate::rows::Rows;
use kafka::client::{Admin as _, NewTopic};
use kafka::simulated::Fault;
use model::SignedDuration;

const ROUNDS: usize = 40;

struct Roll<'a> {
    dice: Dice,
    sim: Sim<'a>,
    plane: Plane,
    topics: Vec<(String, usize)>,
    log: Vec<String>,
}

impl<'a> Roll<'a> {
    /// A cluster that runs, with topics and writes, about to be restarted.
    async fn new(rows: &'a Rows, seed: u64) -> Result<Self, String> {
        let dice = Dice::new(seed);
        let servers = dice.pick(&[1, 3, 3, 3, 5, 7]).unwrap();
        let mut sim = Sim::new(rows, servers, seed).await;
        let mut plane = sim.plane();
        sim.settle(&mut plane).await?;
        let mut roll = Self { dice, sim, plane, topics: vec![], log: vec![] };
        roll.make_topics(servers).await;
        roll.write();
        rows.restart(roll.sim.id(), &[]).await;
        Ok(roll)
    }

    async fn make_topics(&mut self, servers: u32) {
        let id = self.sim.id();
        let rows: Vec<_> = self.sim.rows.servers(id).await;
        let rows: Vec<_> = rows.into_iter().map(|record| record.server).collect();
        let cluster = self.sim.reach.cluster(id, &rows).await.unwrap();
        for number in 0..=self.dice.roll(4) {
            let replicas = 1 + self.dice.roll(servers.min(3) as usize);
            let needed = 1 + self.dice.roll(replicas);
            let topic = NewTopic {
                name: format!("t{number}"),
                partitions: i32::try_from(1 + self.dice.roll(6)).unwrap(),
                replicas: i16::try_from(replicas).unwrap(),
                settings: vec![("min.insync.replicas".into(), needed.to_string())],
            };
            self.sim.kafka.create_topic(&cluster, &topic).await.unwrap();
            self.topics.push((topic.name, usize::try_from(topic.partitions).unwrap()));
        }
    }

    /// As a producer that asks every broker; what is refused is sent later.
    fn write(&self) {
        let partitions = self.sim.kafka.partitions();
        for (topic, count) in &self.topics {
            for number in 0..*count {
                let leads = partitions.iter().find(|it| it.topic == *topic && it.index == number);
                let Some(leader) = leads.and_then(|it| it.leader) else { continue };
                let _ = self.sim.kafka.produce(&self.sim.endpoint(leader), topic, number);
            }
        }
    }

    /// One thing goes wrong, or nothing does.
    async fn trouble(&mut self) -> Result<(), String> {
        let at = self.dice.roll(self.sim.servers.len());
        let node = self.sim.nodes[at];
        let seconds = SignedDuration::from_secs(1 + i64::try_from(self.dice.roll(20)).unwrap());
        let what = self.dice.roll(26);
        match what {
            0..8 => self.sim.trouble(what, at, seconds),
            8 => self.sim.kafka.fail_next(Fault::LostReply, 1),
            9 => self.plane = self.sim.plane(),
            10 => {
                self.plane.gate.freeze_after(self.dice.roll(8));
                ended(self.plane.pass(self.sim.id()).await)?;
                self.plane = self.sim.plane();
            }
            11 => self.sim.agents[at].slow = 3,
            12 => self.sim.agents[at].stale = 2,
            13 => self.sim.agents[at].lose_reply = true,
            14 => self.sim.agents[at].deaf = true,
            15 => self.sim.agents[at].deaf = false,
            _ => return Ok(()),
        }
        self.log.push(format!("{what} at {node}"));
        Ok(())
    }

    async fn round(&mut self) -> Result<(), String> {
        self.trouble().await?;
        ended(self.plane.pass(self.sim.id()).await)?;
        self.check().await?;
        self.sim.agents_step().await;
        self.write();
        self.check().await?;
        self.sim.advance(1);
        Ok(())
    }

    async fn check(&mut self) -> Result<(), String> {
        self.sim.check().await?;
        match &self.sim.kafka.lost_writes()[..] {
            [] => Ok(()),
            lost => Err(format!("acknowledged writes are lost: {lost:?}")),
        }
    }

    /// Nothing goes wrong any more: every server gets its turn.
    async fn end(&mut self) -> Result<(), String> {
        self.sim.settle(&mut self.plane).await?;
        for record in self.sim.rows.servers(self.sim.id()).await {
            let broker = self.sim.ground.lock().unwrap().broker(record.server.id).cloned();
            if broker.map(|broker| broker.launch) != Some(record.server.wanted.launch()) {
                return Err(format!("{} was not restarted", record.server.name));
            }
        }
        self.check().await?;
        self.sim.rows.delete(self.sim.id()).await;
        self.sim.settle(&mut self.plane).await
    }
}

async fn roll(rows: &Rows, seed: u64) -> Result<(), String> {
    let mut roll = Roll::new(rows, seed).await?;
    for _ in 0..ROUNDS {
        if let Err(what) = roll.round().await {
            return Err(format!("{what}\nafter {:?}", roll.log));
        }
    }
    let log = roll.log.clone();
    roll.end().await.map_err(|what| format!("{what}\nafter {log:?}"))
}

#[test]
fn a_roll_never_takes_what_others_need_and_always_ends() {
    side_by_side("CASTELLAN_ROLLS", (60, 3000), async |rows, seed| {
        Box::pin(roll(rows, seed)).await
    });
}

#[tokio::test]
async fn what_a_roll_takes_away_is_told_once_before_it_begins() {
    let rows = Rows::new().await;
    let mut sim = Sim::new(&rows, 3, 1).await;
    let mut plane = sim.plane();
    sim.settle(&mut plane).await.unwrap();
    let servers = rows.servers(sim.id()).await.into_iter().map(|record| record.server);
    let cluster = sim.reach.cluster(sim.id(), &servers.collect::<Vec<_>>()).await.unwrap();
    for (name, replicas, needed) in [("one", 1, "1"), ("strict", 3, "3"), ("good", 3, "2")] {
        let settings = vec![("min.insync.replicas".into(), needed.into())];
        let topic = NewTopic { name: name.into(), partitions: 1, replicas, settings };
        sim.kafka.create_topic(&cluster, &topic).await.unwrap();
    }
    rows.restart(sim.id(), &[]).await;
    sim.settle(&mut plane).await.unwrap();
    let mut reader = rows.store.reader();
    let roll = store::actions::list(&mut reader, sim.id(), 1).await.unwrap().remove(0);
    let steps = store::actions::steps(&mut reader, roll.id).await.unwrap();
    let told = |words: &str| steps.iter().position(|step| step.text.contains(words)).unwrap();
    let foretold = told("while a server of theirs restarts: one-0; strict-0");
    assert!(foretold < told("may stop now"), "{steps:?}");
    let times = steps.iter().filter(|step| step.text.contains("of theirs restarts")).count();
    assert_eq!(times, 1, "{steps:?}");
}

#[tokio::test]
async fn the_active_controller_goes_last() {
    let rows = Rows::new().await;
    for seed in 1..=20 {
        let mut sim = Sim::new(&rows, 3 + 2 * u32::try_from(seed % 3).unwrap(), seed).await;
        let mut plane = sim.plane();
        sim.settle(&mut plane).await.unwrap();
        let mut order = Vec::new();
        rows.restart(sim.id(), &[]).await;
        while rows.instance(sim.id()).await.is_some_and(|now| !now.configured()) {
            plane.pass(sim.id()).await;
            let active = sim.kafka.active_controller();
            sim.agents_step().await;
            for server in sim.ground.lock().unwrap().away.keys() {
                if !order.iter().any(|(gone, _)| gone == server) {
                    order.push((*server, active));
                }
            }
            sim.advance(1);
            assert!(order.len() <= sim.servers.len());
        }
        let node = |server| sim.nodes[sim.servers.iter().position(|it| *it == server).unwrap()];
        let (last, active) = order.pop().unwrap();
        assert_eq!(Some(node(last)), active, "seed {seed}: {order:?}");
        assert!(order.iter().all(|(server, active)| Some(node(*server)) != *active), "{order:?}");
        assert_eq!(order.len() + 1, sim.servers.len());
    }
}
