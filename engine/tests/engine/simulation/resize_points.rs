//! Control planes that die at every point of every step with which a cluster grows and
//! shrinks, alone or with a customer who cancels at that very moment: everything ends whole.

use super::gate::Point;
use super::plane::Plane;
use super::sim::Sim;
use super::steps::{Listed, RESIZE_STEPS};
use crate::rows::Rows;
use kafka::client::{Admin as _, Assignment, NewTopic, TopicPartition};
use kafka::simulated::SimPartition;
use model::Server;
use std::collections::BTreeSet;

/// Changes one after another, of an instance that begins with one server.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Stage {
    /// To three servers.
    Grown,
    /// As many servers, and a topic whose ELR is stale.
    Mended,
    /// To five, and undone while replicas are copied there.
    GrownAndUndone,
    /// To one, and undone once min ISR was lowered.
    ShrunkAndUndone,
    Shrunk,
}

const STAGES: [Stage; 5] =
    [Stage::Grown, Stage::Mended, Stage::GrownAndUndone, Stage::ShrunkAndUndone, Stage::Shrunk];
const ROUNDS: usize = 120;

/// A step and a point of it.
type Pair = (&'static str, Point);

struct Life<'a> {
    sim: Sim<'a>,
    /// Where control planes died.
    came: BTreeSet<Pair>,
}

impl<'a> Life<'a> {
    async fn new(rows: &'a Rows) -> Self {
        let mut sim = Sim::new(rows, 1, 1).await;
        let mut plane = sim.plane();
        sim.settle(&mut plane).await.unwrap();
        let life = Self { sim, came: BTreeSet::new() };
        life.make_topic("own", Some(1)).await;
        life.make_topic("cluster", None).await;
        life.sim.kafka.fill("own", 0, 900_000_000);
        life
    }

    async fn servers(&self) -> Vec<Server> {
        let records = self.sim.rows.servers(self.sim.id()).await;
        records.into_iter().map(|record| record.server).collect()
    }

    async fn make_topic(&self, name: &str, min_isr: Option<u32>) {
        let servers = self.servers().await;
        let cluster = self.sim.reach.cluster(self.sim.id(), &servers).await.unwrap();
        let own = min_isr.map(|value| ("min.insync.replicas".into(), value.to_string()));
        let topic = NewTopic {
            name: name.into(),
            partitions: 2,
            replicas: i16::try_from(servers.len().min(3)).unwrap(),
            settings: own.into_iter().collect(),
        };
        self.sim.kafka.create_topic(&cluster, &topic).await.unwrap();
    }

    async fn begin(&mut self, stage: Stage) -> Result<(), String> {
        let (rows, id) = (self.sim.rows, self.sim.id());
        match stage {
            Stage::Grown => {
                rows.resize(id, 3).await;
            }
            Stage::Mended => {
                self.leave_stale_elr().await;
                rows.resize(id, 3).await;
            }
            Stage::GrownAndUndone => {
                rows.resize(id, 5).await;
                self.sim.kafka.fill("own", 0, 2_000_000_000);
                let copies = |it: &SimPartition| it.adding.iter().any(|node| *node > 3);
                self.work_until(|sim| sim.kafka.partitions().iter().any(copies)).await?;
                rows.undo_resize(id).await;
            }
            Stage::ShrunkAndUndone => {
                rows.resize(id, 1).await;
                let lowered = |it: &SimPartition| it.needed == 1;
                self.work_until(|sim| sim.kafka.partitions().iter().any(lowered)).await?;
                rows.undo_resize(id).await;
            }
            Stage::Shrunk => {
                rows.resize(id, 1).await;
            }
        }
        Ok(())
    }

    /// What an operator may leave behind: a replica that was dropped while min ISR was above
    /// what remained.
    async fn leave_stale_elr(&mut self) {
        self.make_topic("stale", Some(2)).await;
        let servers = self.servers().await;
        let cluster = self.sim.reach.cluster(self.sim.id(), &servers).await.unwrap();
        let at = TopicPartition::new("stale", 0);
        let partitions = self.sim.kafka.partitions();
        let first = partitions.iter().find(|it| it.topic == "stale").unwrap().leader.unwrap();
        let to = [Assignment { at, replicas: vec![first] }];
        self.sim.kafka.placement().reassign(&cluster, &to).await.unwrap();
    }

    async fn work_until(&mut self, is_so: impl Fn(&Sim<'_>) -> bool) -> Result<(), String> {
        let mut plane = self.sim.plane();
        for _ in 0..ROUNDS {
            if is_so(&self.sim) {
                return Ok(());
            }
            // One turn at a time, so that no moment is missed.
            plane.turn(self.sim.id()).await;
            if is_so(&self.sim) {
                return Ok(());
            }
            self.sim.agents_step().await;
            self.sim.check().await?;
            self.sim.advance(1);
        }
        let status = self.sim.rows.instance(self.sim.id()).await.map(|it| it.progress.status());
        Err(format!("it does not come to that: {status:?}"))
    }

    async fn stage(&mut self, stage: Stage, at: Pair, cancels: bool) -> Result<(), String> {
        self.begin(stage).await?;
        let mut plane = self.sim.plane();
        plane.gate.freeze_in(at.0, at.1);
        if self.freezes(&mut plane).await? {
            self.came.insert(at);
            drop(plane);
            self.sim.check().await?;
            if cancels {
                self.sim.rows.undo_resize(self.sim.id()).await;
            }
        }
        let mut plane = self.sim.plane();
        self.sim.settle(&mut plane).await?;
        self.check_whole().await
    }

    async fn freezes(&mut self, plane: &mut Plane) -> Result<bool, String> {
        let settled = self.sim.settle(plane).await;
        if plane.is_frozen() { Ok(true) } else { settled.map(|()| false) }
    }

    async fn check_whole(&self) -> Result<(), String> {
        let nodes: BTreeSet<i32> = self.servers().await.iter().map(|it| it.node_id).collect();
        let (kafka, id) = (&self.sim.kafka, self.sim.id());
        let asked = self.sim.rows.instance(id).await.map_or(0, |it| it.nodes as usize);
        let voters = kafka.voter_ids();
        let are_right = nodes.len() == asked
            && kafka.registered() == nodes
            && voters.len() == asked.min(3)
            && voters.is_subset(&nodes)
            && self.sim.rows.resize_of(id).await.is_none();
        let is_whole = |it: &SimPartition| {
            it.adding.is_empty() && it.removing.is_empty() && it.in_sync.len() == it.replicas.len()
        };
        let needed = if asked < 3 { 1 } else { 2 };
        let follows = |it: &SimPartition| it.topic != "cluster" || it.needed == needed;
        let are_whole = kafka.partitions().iter().all(|it| is_whole(it) && follows(it));
        let lost = (kafka.lost_writes(), kafka.lost_bytes());
        if are_right && are_whole && lost == (vec![], vec![]) {
            return Ok(());
        }
        let partitions = kafka.partitions();
        Err(format!("{asked}: {nodes:?}, {voters:?}, lost {lost:?}, {partitions:?}"))
    }

    async fn live(&mut self, at: Pair, cancels: bool) -> Result<(), String> {
        for stage in STAGES {
            let lived = self.stage(stage, at, cancels).await;
            lived.map_err(|what| format!("{stage:?}: {what}"))?;
        }
        self.sim.rows.delete(self.sim.id()).await;
        let mut plane = self.sim.plane();
        self.sim.settle(&mut plane).await
    }
}

/// Every step with every point of it.
fn pairs() -> BTreeSet<Pair> {
    let of_step = |step: &'static Listed| {
        let effects = step.effects.iter().flat_map(|e| [Point::Before(*e), Point::After(*e)]);
        let all = [Point::Begins(step.name), Point::Ends(step.name)].into_iter().chain(effects);
        all.map(|point| (step.name, point))
    };
    RESIZE_STEPS.iter().flat_map(of_step).collect()
}

async fn every_point(cancels: bool) {
    let rows = Rows::new().await;
    let mut came = BTreeSet::new();
    for pair in pairs() {
        let mut life = Life::new(&rows).await;
        let lived = life.live(pair, cancels).await;
        lived.unwrap_or_else(|what| panic!("{pair:?}, cancels: {cancels}: {what}"));
        came.append(&mut life.came);
    }
    if !cancels {
        let expected = pairs();
        let missed: Vec<_> = expected.difference(&came).collect();
        assert!(missed.is_empty(), "no control plane died at {missed:?}");
    }
}

#[tokio::test]
async fn killed_at_any_point_it_ends_whole() {
    every_point(false).await;
}

#[tokio::test]
async fn cancelled_at_any_point_it_ends_whole() {
    every_point(true).await;
}
