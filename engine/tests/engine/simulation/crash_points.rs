//! Killed at every point of every step, alone or with a change of mind at that
//! very moment, everything ends the same.

use super::gate::{Effect, Point};
use super::plane::Plane;
use super::sim::{Sim, certificate_life};
use super::steps::STEPS;
use crate::rows::Rows;
use model::{DiskLevel, InstanceId};
use std::collections::BTreeSet;

/// What the customer wants at the moment of the crash.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mind {
    Same,
    /// Stop if it shall run, start if it shall stop.
    Other,
    Deleted,
}

/// The stages of a life, each begun by what the customer wants next.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stage {
    Made,
    /// The agent of every server gets a new identity; no broker has a part in that.
    ReEnrolled,
    /// Every server, one at a time.
    Restarted,
    /// What Kafka keeps itself.
    SettingsChanged,
    /// Of the first server: producers are slowed down.
    DiskNearlyFull,
    DiskHasRoom,
    /// The last server alone.
    ServerStopped,
    ServerStarted,
    /// Every disk is to be larger; no broker has a part in that.
    DisksGrown,
    Stopped,
    Started,
    /// Stopped and started before anybody looked.
    Flipped,
    /// After so long that certificates are renewed.
    Renewed,
    Deleted,
}

pub const LIFE: [Stage; 14] = [
    Stage::Made,
    Stage::ReEnrolled,
    Stage::Restarted,
    Stage::SettingsChanged,
    Stage::DiskNearlyFull,
    Stage::DiskHasRoom,
    Stage::ServerStopped,
    Stage::ServerStarted,
    Stage::DisksGrown,
    Stage::Stopped,
    Stage::Started,
    Stage::Flipped,
    Stage::Renewed,
    Stage::Deleted,
];

impl Stage {
    pub async fn begin(self, rows: &Rows, id: InstanceId) {
        match self {
            Stage::Made => {}
            Stage::ReEnrolled => rows.re_enrol(id, &[]).await,
            Stage::Restarted => rows.restart(id, &[]).await,
            Stage::SettingsChanged => rows.set_settings(id, &[("log.retention.ms", "60000")]).await,
            Stage::DiskNearlyFull | Stage::DiskHasRoom => {
                let servers = rows.servers(id).await;
                let level = (self == Stage::DiskNearlyFull).then_some(DiskLevel::Slowed);
                rows.set_disk_level(&servers[0].server, level).await;
            }
            Stage::ServerStopped | Stage::ServerStarted => {
                let servers = rows.servers(id).await;
                // The only server is not stopped alone.
                if let [_, .., last] = &servers[..] {
                    let stopped = self == Stage::ServerStopped;
                    rows.stop_server(id, last.server.id, stopped).await;
                }
            }
            Stage::DisksGrown => rows.grow_disks(id).await,
            Stage::Stopped => rows.stop(id, true).await,
            Stage::Started => rows.stop(id, false).await,
            Stage::Flipped => {
                rows.stop(id, true).await;
                rows.stop(id, false).await;
            }
            Stage::Renewed => rows.clock.advance(certificate_life().duration() * 5 / 6),
            Stage::Deleted => rows.delete(id).await,
        }
    }
}

/// Every point a control plane can die at.
pub fn points() -> Vec<Point> {
    let all: BTreeSet<Point> = pairs().into_iter().map(|(_, point)| point).collect();
    all.into_iter().collect()
}

/// The leaders of an only server have nowhere to go, and are never given back.
pub fn comes(point: Point, servers: u32) -> bool {
    use Point::{After, Before, Begins, Ends};
    let moves_leaders = matches!(point, Before(Effect::ElectLeaders) | After(Effect::ElectLeaders))
        || matches!(point, Begins("ReturnLeaders") | Ends("ReturnLeaders"));
    servers > 1 || !moves_leaders
}

/// Every step with every point of it: steps may have the same effect.
fn pairs() -> BTreeSet<(&'static str, Point)> {
    let of_step = |step: &'static super::steps::Listed| {
        let effects = step.effects.iter().flat_map(|e| [Point::Before(*e), Point::After(*e)]);
        let all = [Point::Begins(step.name), Point::Ends(step.name)].into_iter().chain(effects);
        all.map(|point| (step.name, point))
    };
    STEPS.iter().flat_map(of_step).collect()
}

/// An instance from its making to its delete.
pub struct Life<'a> {
    pub sim: Sim<'a>,
    /// Where control planes died.
    came: BTreeSet<(&'static str, Point)>,
}

impl<'a> Life<'a> {
    pub async fn new(rows: &'a Rows, servers: u32) -> Self {
        Self { sim: Sim::new(rows, servers, 1).await, came: BTreeSet::new() }
    }

    /// Works with control planes that die whenever they come to this point,
    /// so many times, then with one that lives. Whether any died.
    async fn stage(&mut self, point: Point, deaths: usize, mind: Mind) -> Result<bool, String> {
        let mut died = false;
        // So that even the first of them has something to take over.
        self.sim.die_at_once().await;
        for _ in 0..deaths {
            let mut plane = self.sim.plane();
            plane.gate.freeze_at(point);
            if !self.work_until_frozen(&mut plane).await? {
                return Ok(died);
            }
            self.came.extend(plane.gate.step().map(|step| (step, point)));
            drop(plane);
            died = true;
            self.sim.check().await?;
            self.change(mind).await;
        }
        let mut plane = self.sim.plane();
        self.sim.settle(&mut plane).await?;
        self.sim.check_certificates().await?;
        self.sim.check_kafka().await?;
        Ok(died)
    }

    pub async fn change(&mut self, mind: Mind) {
        let id = self.sim.id();
        let Some(now) = self.sim.rows.instance(id).await else { return };
        match mind {
            Mind::Same => {}
            Mind::Other => self.sim.rows.stop(id, !now.stopped).await,
            Mind::Deleted => self.sim.rows.delete(id).await,
        }
    }

    /// Whether it froze before the instance was what it should be.
    pub async fn work_until_frozen(&mut self, plane: &mut Plane) -> Result<bool, String> {
        let settled = self.sim.settle(plane).await;
        if plane.is_frozen() {
            return Ok(true);
        }
        settled.map(|()| false)
    }

    fn starts(&self) -> u32 {
        self.sim.ground.lock().unwrap().starts
    }

    pub async fn is_there(&self) -> bool {
        self.sim.rows.instance(self.sim.id()).await.is_some()
    }

    /// The whole life, dying at the point in every stage. How many stages died.
    async fn live(&mut self, point: Point, deaths: usize, mind: Mind) -> Result<usize, String> {
        let id = self.sim.id();
        let mut died = 0;
        for stage in LIFE {
            if self.is_there().await {
                let starts = self.starts();
                stage.begin(self.sim.rows, id).await;
                died += usize::from(self.stage(point, deaths, mind).await?);
                if stage == Stage::Made {
                    self.sim.make_topic().await;
                }
                let goes_on = matches!(stage, Stage::ReEnrolled | Stage::DisksGrown);
                if mind == Mind::Same && goes_on && self.starts() > starts {
                    return Err(format!("a broker was started anew for {stage:?}"));
                }
            }
        }
        if self.is_there().await {
            return Err("it is still there after its delete".into());
        }
        self.sim.check().await.map(|()| died)
    }
}

async fn every_point(servers: u32, deaths: usize, mind: Mind) {
    let rows = Rows::new().await;
    let mut came = BTreeSet::new();
    for point in points() {
        let mut life = Life::new(&rows, servers).await;
        let died = life.live(point, deaths, mind).await;
        let died = died.unwrap_or_else(|what| panic!("{point:?}, {mind:?}: {what}"));
        assert_eq!(died > 0, comes(point, servers), "{point:?}: the list of steps is out of date");
        came.append(&mut life.came);
    }
    if mind == Mind::Same {
        let mut expected = pairs();
        expected.retain(|(_, point)| comes(*point, servers));
        assert_eq!(came, expected, "every step dies at each of its own points");
    }
    let left = store::servers::taken_listeners(&mut rows.store.reader()).await.unwrap();
    assert_eq!(left, [], "addresses are left");
}

#[tokio::test]
async fn killed_once_at_any_point_it_ends_the_same() {
    every_point(3, 1, Mind::Same).await;
}

#[tokio::test]
async fn killed_twice_at_the_same_point_it_ends_the_same() {
    every_point(1, 2, Mind::Same).await;
}

#[tokio::test]
async fn stopped_or_started_at_any_point_it_follows() {
    every_point(1, 1, Mind::Other).await;
}

#[tokio::test]
async fn deleted_at_any_point_nothing_is_left() {
    every_point(3, 1, Mind::Deleted).await;
}
