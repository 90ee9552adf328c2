//! Clusters that grow, shrink and are rebalanced, with topics of any shape, while servers
//! die, stand still and fall behind, control planes crash in the middle of steps, topics are
//! made and deleted, and customers change their minds.
//!
//! Whatever happens, no acknowledged write is lost, no partition takes no writes for our
//! copies, no controller without all metadata becomes active, and no server goes that holds a
//! replica or votes. Once the bad luck ends, every change does too, and leaves a whole cluster.
//!
//! `CASTELLAN_SEED` and `CASTELLAN_RESIZES` say which and how many.

use super::dice::Dice;
use super::explorer::{ended, side_by_side};
use super::plane::Plane;
use super::sim::Sim;
use crate::rows::Rows;
use kafka::client::{Admin as _, NewTopic};
use kafka::simulated::Fault;
use model::{Membership, SignedDuration};
use std::collections::BTreeSet;

const CHANGES: usize = 3;
const MOST_ROUNDS: usize = 40;
const SCHEDULES: (u64, u64) = (30, 1500);

pub(super) struct Resizing<'a> {
    dice: Dice,
    pub sim: Sim<'a>,
    pub plane: Plane,
    /// Topics that were made so far.
    topics: usize,
    log: Vec<String>,
}

impl<'a> Resizing<'a> {
    pub async fn new(rows: &'a Rows, seed: u64) -> Result<Self, String> {
        let dice = Dice::new(seed);
        let servers = dice.pick(&[1, 1, 3, 3, 5]).unwrap();
        let mut sim = Sim::new(rows, servers, seed).await;
        let mut plane = sim.plane();
        sim.settle(&mut plane).await?;
        let mut resizing = Self { dice, sim, plane, topics: 0, log: vec![] };
        for _ in 0..=resizing.dice.roll(4) {
            resizing.make_topic().await;
        }
        resizing.write();
        Ok(resizing)
    }

    /// A cluster of more than one server.
    pub async fn of_several(rows: &'a Rows) -> Self {
        let mut resizing = Self::new(rows, 1).await.unwrap();
        let id = resizing.sim.id();
        if rows.servers(id).await.len() == 1 {
            assert!(rows.resize(id, 3).await);
            resizing.settle().await.unwrap();
        }
        resizing
    }

    /// Of no more replicas than there are servers for sure, and none that a later change could
    /// not keep.
    async fn make_topic(&mut self) {
        let id = self.sim.id();
        let records = self.sim.rows.servers(id).await;
        let rows: Vec<_> = records.into_iter().map(|record| record.server).collect();
        let stay = rows.iter().filter(|server| server.membership == Membership::Member).count();
        let Ok(cluster) = self.sim.reach.cluster(id, &rows).await else { return };
        let replicas = 1 + self.dice.roll(stay.clamp(1, 3));
        let needed = 1 + self.dice.roll(replicas);
        let own = ("min.insync.replicas".into(), needed.to_string());
        let topic = NewTopic {
            name: format!("t{}", self.topics),
            partitions: i32::try_from(1 + self.dice.roll(4)).unwrap(),
            replicas: i16::try_from(replicas).unwrap(),
            settings: if self.dice.roll(2) == 0 { vec![own] } else { vec![] },
        };
        self.topics += 1;
        if self.sim.kafka.create_topic(&cluster, &topic).await.is_ok() && self.dice.roll(2) == 0 {
            let bytes = 1 + self.dice.roll(3) as u64 * 200_000_000;
            for partition in 0..usize::try_from(topic.partitions).unwrap() {
                self.sim.kafka.fill(&topic.name, partition, bytes);
            }
        }
    }

    async fn delete_topic(&mut self) {
        let id = self.sim.id();
        let rows = self.sim.rows.servers(id).await;
        let rows: Vec<_> = rows.into_iter().map(|record| record.server).collect();
        let Ok(cluster) = self.sim.reach.cluster(id, &rows).await else { return };
        let name = format!("t{}", self.dice.roll(self.topics.max(1)));
        let _ = self.sim.kafka.topics().delete_topic(&cluster, &name).await;
    }

    /// As a producer that asks every broker; what is refused is sent later.
    pub fn write(&self) {
        for partition in self.sim.kafka.partitions() {
            let Some(leader) = partition.leader else { continue };
            let at = self.sim.endpoint(leader);
            let _ = self.sim.kafka.produce(&at, &partition.topic, partition.index);
        }
    }

    async fn trouble(&mut self) -> Result<(), String> {
        let id = self.sim.id();
        let at = self.dice.roll(self.sim.servers.len());
        let node = self.sim.nodes[at];
        let seconds = SignedDuration::from_secs(1 + i64::try_from(self.dice.roll(20)).unwrap());
        let what = self.dice.roll(60);
        match what {
            0..8 => self.sim.trouble(what, at, seconds),
            8 | 9 => self.sim.kafka.fail_next(Fault::LostReply, 1),
            10 => self.sim.kafka.fail_next(Fault::Slow, 1),
            11 => self.plane = self.sim.plane(),
            12..17 => {
                self.plane.gate.freeze_after(self.dice.roll(8));
                ended(self.plane.pass(id).await)?;
                self.plane = self.sim.plane();
            }
            17 => self.sim.agents[at].slow = 3,
            18 => self.sim.agents[at].stale = 2,
            19 => self.sim.agents[at].lose_reply = true,
            20 | 21 => self.make_topic().await,
            22 => self.delete_topic().await,
            23 => drop(self.sim.rows.undo_resize(id).await),
            24 => self.sim.rows.stop(id, true).await,
            25 | 26 => self.sim.rows.stop(id, false).await,
            _ => return Ok(()),
        }
        self.log.push(format!("{what} at {node}"));
        Ok(())
    }

    async fn round(&mut self) -> Result<(), String> {
        self.trouble().await?;
        self.round_without_trouble().await
    }

    pub async fn round_without_trouble(&mut self) -> Result<(), String> {
        self.check().await?;
        ended(self.plane.pass(self.sim.id()).await)?;
        self.check().await?;
        self.sim.agents_step().await;
        self.write();
        self.check().await?;
        self.sim.advance(1);
        Ok(())
    }

    pub async fn check(&mut self) -> Result<(), String> {
        self.sim.check().await?;
        let id = self.sim.id();
        // Read first: a change that ends meanwhile is no fault.
        let configured = self.sim.rows.instance(id).await.is_some_and(|now| now.configured());
        if configured && self.sim.rows.resize_of(id).await.is_some() {
            return Err("it is configured while its servers join or leave".into());
        }
        match (&self.sim.kafka.lost_writes()[..], &self.sim.kafka.lost_bytes()[..]) {
            ([], []) => Ok(()),
            lost => Err(format!("acknowledged writes are lost: {lost:?}")),
        }
    }

    /// More or fewer servers, while anything may go wrong. It is let end in peace.
    async fn change(&mut self) -> Result<(), String> {
        let id = self.sim.id();
        let to = self.dice.pick(&[1, 3, 3, 5]).unwrap();
        let accepted = self.sim.rows.resize(id, to).await;
        self.log.push(format!("resize to {to}: {accepted}"));
        for _ in 0..self.dice.roll(MOST_ROUNDS) {
            self.round().await?;
        }
        self.log.push("peace".into());
        self.sim.rows.stop(id, false).await;
        self.settle().await?;
        // What was away has to catch up.
        self.sim.advance(30);
        self.check_whole().await
    }

    pub async fn settle(&mut self) -> Result<(), String> {
        self.plane = self.sim.plane();
        // The last worker may have died with its lease.
        self.sim.advance(61);
        self.sim.settle(&mut self.plane).await?;
        self.check().await
    }

    /// As many servers as asked for, each of them known and part of a whole cluster.
    pub async fn check_whole(&mut self) -> Result<(), String> {
        let id = self.sim.id();
        let records = self.sim.rows.servers(id).await;
        let instance = self.sim.rows.instance(id).await.ok_or("it is gone")?;
        let nodes: BTreeSet<i32> = records.iter().map(|it| it.server.node_id).collect();
        let (kafka, registered) = (&self.sim.kafka, self.sim.kafka.registered());
        if records.len() != instance.nodes as usize || registered != nodes {
            let asked = instance.nodes;
            return Err(format!("{asked} servers were asked for: {nodes:?}, {registered:?}"));
        }
        let voters = kafka.voter_ids();
        if voters.len() != records.len().min(3) || !voters.is_subset(&nodes) {
            return Err(format!("{voters:?} vote, of {nodes:?}"));
        }
        if records.iter().any(|it| it.server.membership != Membership::Member) {
            return Err("a server joins or leaves for ever".into());
        }
        if let Some(resize) = self.sim.rows.resize_of(id).await {
            return Err(format!("it does not end: {resize:?}"));
        }
        let open = self.sim.rows.open_actions(id).await;
        if !open.is_empty() {
            return Err(format!("these do not end: {open:?}"));
        }
        for partition in kafka.partitions() {
            let is_whole = partition.replicas.len() == partition.in_sync.len()
                && partition.leader.is_some()
                && partition.elr.iter().all(|node| partition.replicas.contains(node))
                && partition.adding.is_empty()
                && partition.removing.is_empty();
            if !is_whole {
                return Err(format!("left as it is: {partition:?}"));
            }
        }
        Ok(())
    }
}

async fn resize(rows: &Rows, seed: u64) -> Result<(), String> {
    let mut resizing = Resizing::new(rows, seed).await?;
    for _ in 0..CHANGES {
        if let Err(what) = resizing.change().await {
            return Err(format!("{what}\nafter {:?}", resizing.log));
        }
    }
    resizing.sim.rows.delete(resizing.sim.id()).await;
    resizing.sim.settle(&mut resizing.plane).await
}

#[test]
fn whatever_happens_nothing_is_lost_and_every_change_ends() {
    side_by_side("CASTELLAN_RESIZES", SCHEDULES, resize);
}
