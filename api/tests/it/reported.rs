//! Alarms on what agents report: three servers in good health, heard and watched as the
//! control plane does it, which may be away for a while and begin anew.

mod day;
mod levels;

use crate::agents::enrol_server;
use crate::call::Call;
use crate::world::{World, tellings};
use app::App;
use app::agents::Agent;
use app::metrics::Sample;
use model::{Instance, NotificationState, Series, Server, SignedDuration};
use serde_json::Value;
use std::collections::BTreeMap;
use store::{Location, MetricsHistory};
use tokio::sync::broadcast::Receiver;
use watch::alarms::Watch;
use watch::metrics::{Lag, Lags, News};

/// What one server measures at one time.
type Values = BTreeMap<Series, f32>;

/// What somebody is told: by which type of alarm, what, about whom.
type Told = (String, NotificationState, Option<String>);

struct Reporting {
    server: Server,
    agent: Agent,
    /// What the control plane has not taken yet.
    kept: Vec<Sample>,
}

struct Cluster {
    world: World,
    instance: Instance,
    servers: Vec<Reporting>,
    /// How often they measured.
    step: u16,
    /// None while it is away.
    plane: Option<Plane>,
    /// Of the history of metrics.
    directory: tempfile::TempDir,
}

/// What a control plane has in memory.
struct Plane {
    app: App,
    watch: Watch,
    news: Receiver<News>,
}

impl Plane {
    fn start(app: App) -> Self {
        let news = watch::metrics::subscribe(app.watch());
        Self { watch: Watch::new(app.watch().clone()), app, news }
    }

    async fn watch_news(&mut self) {
        while let Ok(news) = self.news.try_recv() {
            match news {
                News::Sample(server, sample) => self.watch.sample(server, &sample).await,
                News::Groups(instance, lags) => self.watch.groups(instance, &lags).await,
            }
            .unwrap();
        }
    }
}

impl Cluster {
    /// Ready, with these alarms beside those that every instance begins with.
    async fn with(alarms: &[Value]) -> Self {
        let world = World::new().await;
        let instance = world.create_of("mouse-3", "orders", &[]).await;
        world.make_ready(instance.id).await;
        let instance = world.load(instance.id.0).await;
        for alarm in alarms {
            let path = format!("/api/instances/{}/alarms", instance.id);
            let answer = Call::post(&path).key(&world.key).json(alarm).send(&world.customer).await;
            assert_eq!(answer.status, 201, "{alarm}: {}", answer.text);
        }
        let mut servers = Vec::new();
        for server in world.servers(instance.id).await {
            let certificate = enrol_server(&world, &server).await;
            let agent = app::agents::authenticate(&world.app, &certificate).await.unwrap();
            servers.push(Reporting { server, agent, kept: Vec::new() });
        }
        let directory = tempfile::tempdir().unwrap();
        let mut cluster = Self { world, instance, servers, step: 0, plane: None, directory };
        cluster.start_control_plane().await;
        cluster
    }

    fn name(&self, server: usize) -> String {
        self.servers[server].server.name.clone()
    }

    /// Ten seconds in which every server measures what it is told for what it would in
    /// good health; one that measures nothing is silent. Silence is looked for half way
    /// between two samples.
    async fn lives(&mut self, measures: impl Fn(usize, Values) -> Option<Values>) {
        let half = SignedDuration::from_secs(5);
        self.world.clock.advance(half);
        if let Some(plane) = &mut self.plane {
            plane.watch.silence().await.unwrap();
        }
        self.world.clock.advance(half);
        self.step += 1;
        let at = self.world.app.now().as_second();
        for (number, server) in self.servers.iter_mut().enumerate() {
            let values = measures(number, healthy(self.step, number));
            let sample = |values| Sample { at, values, ..<_>::default() };
            server.kept.extend(values.map(sample));
        }
        self.report().await;
    }

    /// Agents send what they have, but now and then one is late.
    async fn report(&mut self) {
        let Some(plane) = &mut self.plane else { return };
        for (number, server) in self.servers.iter_mut().enumerate() {
            let is_late = usize::from(self.step) % 700 == 100 * (number + 1);
            if !is_late && !server.kept.is_empty() {
                let samples = std::mem::take(&mut server.kept);
                app::metrics::take(&server.agent, &plane.app, samples).await.unwrap();
            }
        }
        plane.watch_news().await;
        if self.step.is_multiple_of(3) {
            plane.watch.groups(self.instance.id, &lags(self.step)).await.unwrap();
        }
    }

    fn kill_control_plane(&mut self) {
        self.plane = None;
    }

    /// One with nothing in memory.
    async fn start_control_plane(&mut self) {
        let at = Location::Sqlite(self.directory.path().join("store.db"));
        let history = MetricsHistory::open(&at).await.unwrap();
        self.plane = Some(Plane::start(self.world.app.clone().with_metrics_history(history)));
    }

    /// Everything that people are told and were not before.
    async fn told(&self) -> Vec<Told> {
        let told = tellings(&self.world.app).await.into_iter().map(|telling| telling.notification);
        told.map(|it| (it.alarm_type, it.state, it.server.or(it.group))).collect()
    }
}

/// Of a server of the plan `mouse`, which has 1 core, 2 GiB of memory and 25 of disk. As
/// on any day it is busy for minutes, segments come and go, and replicas are late once.
fn healthy(step: u16, server: usize) -> Values {
    let since = |steps: u16| f32::from(step % steps);
    let is_busy = step % 360 < 30;
    let is_late = step % 1000 == 7 && server == 1;
    let mut values = BTreeMap::from([
        (Series::CpuCores, if is_busy { 0.97 } else { 0.12 }),
        (Series::MemoryUsed, 1.3e9 + since(20) * 2e7),
        (Series::DiskUsed, 10e9 + since(360) * 1e6 + since(4) * 2e7),
        (Series::FileSystemFree, 60e9),
        (Series::FileSystemSize, 100e9),
        (Series::Partitions, 30.0),
        (Series::UnderMinIsr, f32::from(u8::from(is_late))),
        (Series::CertificateDays, 60.0),
    ]);
    if server == 0 {
        values.insert(Series::OfflinePartitions, 0.0);
    }
    values
}

/// A group that keeps up, but for a moment now and then.
fn lags(step: u16) -> Lags {
    let seconds = if step.is_multiple_of(240) { 90 } else { i64::from(step % 7) * 6 };
    let lag = Lag { messages: 9, seconds, at_least: false };
    Lags { groups: vec![("billing".into(), lag)], gone: vec![] }
}
