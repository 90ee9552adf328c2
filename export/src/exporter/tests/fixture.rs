//! Instances whose agents send samples, control planes that hear them, and the system that
//! takes what is sent.

use super::super::*;
use async_trait::async_trait;
use kafka::simulated::{SimKafka, Timing};
use model::{
    Integration, IntegrationConfig, IntegrationId, IntegrationKind, IntegrationSystem, ManualClock,
    Series, ServerId, SystemClock, Timestamp,
};
use reach::Reach;
use series::Sample;
use ship::{Instance, Outcome, Point, Trouble, Verdict};
use std::collections::{BTreeMap, VecDeque};
use std::sync::Mutex;
use store::{Location, MetricsHistory, NewIntegration, integrations, servers};
use test_support::rows::Rows;
use tokio::sync::Notify;
use watch::metrics;

/// A call that was made.
#[derive(Clone, Debug)]
pub struct Call {
    pub id: IntegrationId,
    pub instance: InstanceId,
    pub origin: Instance,
    pub points: Vec<Point>,
    pub key: String,
    pub at: Timestamp,
}

impl Call {
    /// The minutes that it has points of, in seconds.
    pub fn minutes(&self) -> Vec<i64> {
        let mut minutes: Vec<_> = self.points.iter().map(|point| point.at.as_second()).collect();
        minutes.dedup();
        minutes
    }
}

/// What is answered to a call.
#[derive(Clone, Debug)]
pub enum Answer {
    Trouble(Verdict, &'static str),
    /// So many points are taken before there is trouble.
    Part(usize),
    Hang,
    /// It takes twelve calls of 1.5 seconds, as far as the patience goes.
    Slow,
    /// Everything is taken, once the test lets it.
    Wait,
}

/// Takes everything, unless it is told otherwise.
#[derive(Default)]
pub struct Receiver {
    pub calls: Mutex<Vec<Call>>,
    answers: Mutex<BTreeMap<(InstanceId, IntegrationId), VecDeque<Answer>>>,
    pub begun: Notify,
    pub go_on: Notify,
}

impl Receiver {
    /// The answers to the next calls.
    pub fn answer(&self, to: (InstanceId, IntegrationId), answers: &[Answer]) {
        self.answers.lock().unwrap().entry(to).or_default().extend(answers.iter().cloned());
    }

    pub fn take(&self) -> Vec<Call> {
        std::mem::take(&mut *self.calls.lock().unwrap())
    }
}

#[async_trait]
impl SendPoints for Receiver {
    async fn send(
        &self,
        integration: &Integration,
        origin: &Instance,
        points: &[Point],
        now: Timestamp,
        patience: Duration,
    ) -> Outcome {
        let of = (origin.id, integration.id);
        self.calls.lock().unwrap().push(Call {
            id: integration.id,
            instance: origin.id,
            origin: origin.clone(),
            points: points.to_vec(),
            key: integration
                .config
                .get("api_key")
                .map_or_else(String::new, |key| key.expose().into()),
            at: now,
        });
        let answer = self.answers.lock().unwrap().get_mut(&of).and_then(VecDeque::pop_front);
        let trouble = |done, verdict, sentence: &str| {
            let trouble = match verdict {
                Verdict::Retry { after } => Trouble::retry(after, sentence),
                Verdict::Refused => Trouble::refused(sentence),
            };
            Outcome { done, dropped: 0, trouble: Some(trouble) }
        };
        match answer {
            None => {}
            Some(Answer::Trouble(verdict, sentence)) => return trouble(0, verdict, sentence),
            Some(Answer::Part(done)) => {
                return trouble(done, Verdict::Retry { after: None }, "it broke off");
            }
            Some(Answer::Slow) => {
                let calls = usize::try_from(patience.as_millis() / 1500).unwrap();
                let done = calls * points.len().div_ceil(12);
                if done < points.len() {
                    return trouble(done, Verdict::Retry { after: None }, "it is slow");
                }
            }
            Some(Answer::Hang) => std::future::pending().await,
            Some(Answer::Wait) => {
                self.begun.notify_one();
                self.go_on.notified().await;
            }
        }
        Outcome { done: points.len(), ..Outcome::default() }
    }
}

/// A control plane.
pub struct Plane {
    pub context: watch::Context,
    pub round: Round,
}

impl Plane {
    /// Until nothing is due and nothing is under way.
    pub async fn work(&mut self) {
        for _ in 0..1000 {
            let wait = self.round.look().await.unwrap();
            while self.round.tasks.join_next().await.is_some() {}
            if wait != TICK && self.round.finishing.is_empty() {
                return;
            }
        }
        panic!("it never rests");
    }

    /// The same while so many calls hang.
    pub async fn work_beside(&mut self, hanging: usize) {
        for _ in 0..1000 {
            let wait = self.round.look().await.unwrap();
            while self.round.under_way.count() > hanging {
                let finished = self.round.finishing.recv();
                let finished = tokio::time::timeout(Duration::from_secs(30), finished).await;
                self.round.note_finished(finished.expect("a turn is finished").unwrap());
            }
            if wait != TICK && self.round.unsaved.is_empty() {
                return;
            }
        }
        panic!("it never rests");
    }

    pub async fn flush(&self) {
        metrics::flush(&self.context, i64::MAX).await;
    }

    /// As at a stop.
    pub async fn write_everything(&self) {
        metrics::flush_everything(&self.context).await;
    }
}

pub struct World {
    pub rows: Rows,
    pub receiver: Arc<Receiver>,
    pub history: Location,
    /// Each with its servers.
    pub instances: Vec<(InstanceId, Vec<ServerId>)>,
}

pub const FIRST: IntegrationId = IntegrationId(1);

impl World {
    /// With instances of so many servers each.
    pub async fn new(sizes: &[u32]) -> Self {
        let rows = Rows::new().await;
        let history = Location::Sqlite(rows.directory.path().join("test.db"));
        Self::with(rows, history, sizes).await
    }

    /// On PostgreSQL, whose clock says when turns are due and does not wait for the test's.
    pub async fn on_postgres(sizes: &[u32]) -> Self {
        let at = Location::Postgres(test_support::postgres::database().await);
        let rows = Rows::on_postgres(&at, SystemClock.now()).await;
        Self::with(rows, at, sizes).await
    }

    async fn with(rows: Rows, history: Location, sizes: &[u32]) -> Self {
        let mut instances = Vec::new();
        for size in sizes {
            let id = rows.create(*size).await.id;
            let servers = servers::list_bare(&mut rows.store.reader(), id).await.unwrap();
            instances.push((id, servers.iter().map(|server| server.id).collect()));
        }
        Self { rows, receiver: Arc::default(), history, instances }
    }

    pub fn clock(&self) -> &ManualClock {
        &self.rows.clock
    }

    pub fn now(&self) -> i64 {
        self.clock().now().as_second()
    }

    /// As after a start: nothing is in memory.
    pub async fn plane(&self) -> Plane {
        let rows = &self.rows;
        let kafka = Arc::new(SimKafka::new(rows.clock.clone(), 1, Timing::INSTANT));
        let reach = Reach::new(rows.store.clone(), kafka, rows.clock.clone(), rows.entropy.clone());
        let (store, catalogue) = (rows.store.clone(), rows.catalogue.clone());
        let (clock, entropy) = (rows.clock.clone(), rows.entropy.clone());
        let context = watch::Context::new(store, reach, catalogue, clock, entropy)
            .with_history(MetricsHistory::open(&self.history).await.unwrap());
        let (clock, entropy) = (rows.clock.clone(), rows.entropy.clone());
        let store = rows.store.clone();
        let sender = self.receiver.clone();
        let exporter = Exporter::new(store, context.clone(), clock, entropy, sender);
        let exporter = Exporter { patience: Duration::from_millis(100), ..exporter };
        Plane { context, round: Round::new(exporter) }
    }

    pub async fn integrate(&self, instance: InstanceId) -> IntegrationId {
        self.integrate_with(instance, IntegrationSystem::Librato).await
    }

    pub async fn integrate_with(
        &self,
        instance: InstanceId,
        system: IntegrationSystem,
    ) -> IntegrationId {
        let mut work = self.rows.store.begin().await.unwrap();
        let new = NewIntegration { kind: IntegrationKind::Metrics, system, config: config("one") };
        let id = integrations::insert(&mut work, instance, &new, self.clock().now()).await;
        work.commit().await.unwrap();
        id.unwrap().unwrap()
    }

    /// Replaces the settings of the first integration.
    pub async fn set_config(&self, instance: InstanceId, config: IntegrationConfig) {
        self.set_config_in(&self.rows.store, instance, config).await;
    }

    /// The same by another control plane.
    pub async fn set_config_in(
        &self,
        store: &Store,
        instance: InstanceId,
        config: IntegrationConfig,
    ) {
        let mut work = store.begin().await.unwrap();
        let now = self.clock().now();
        assert!(integrations::set_config(&mut work, instance, FIRST, &config, now).await.unwrap());
        work.commit().await.unwrap();
    }

    pub async fn integration(&self, instance: InstanceId) -> Integration {
        let mut reader = self.rows.store.reader();
        let kind = IntegrationKind::Metrics;
        integrations::find(&mut reader, instance, kind, FIRST).await.unwrap().unwrap()
    }

    /// Agents sample for so many seconds, and this control plane hears them.
    pub async fn live(&self, plane: &Plane, seconds: i64) {
        for _ in 0..seconds / 10 {
            for (id, servers) in &self.instances {
                for server in servers {
                    self.take_sample(plane, *id, *server, self.now()).await;
                }
            }
            self.pass(10);
            if self.now() % 600 == 40 {
                plane.flush().await;
            }
        }
        for (_, servers) in &self.instances {
            self.see(servers).await;
        }
    }

    /// This control plane takes one sample of one agent.
    pub async fn take_sample(
        &self,
        plane: &Plane,
        instance: InstanceId,
        server: ServerId,
        at: i64,
    ) {
        let sample = sample(at);
        metrics::take(&plane.context, instance, server, vec![sample]).await.unwrap();
    }

    /// Some control plane hears of these servers.
    pub async fn see(&self, servers: &[ServerId]) {
        let mut work = self.rows.store.begin().await.unwrap();
        let seen: Vec<_> = servers.iter().map(|id| (*id, self.clock().now())).collect();
        servers::set_last_seen(&mut work, &seen).await.unwrap();
        work.commit().await.unwrap();
    }

    pub fn pass(&self, seconds: i64) {
        self.clock().advance(SignedDuration::from_secs(seconds));
    }
}

/// Its number is told by its time.
pub fn sample(at: i64) -> Sample {
    let at = series::align(at, series::STEP);
    let values = BTreeMap::from([(Series::Connections, value(at))]);
    Sample { at, values, ..Sample::default() }
}

fn value(at: i64) -> f32 {
    series::narrow(f64::from(u32::try_from(at.rem_euclid(3600)).unwrap()))
}

/// The mean of a minute of such samples.
pub fn mean(minute: i64) -> f64 {
    f64::from(value(minute)) + 25.0
}

pub fn config(key: &str) -> IntegrationConfig {
    let fields = [("api_key", key), ("license_key", key), ("email", "ada@example.com")];
    fields.map(|(name, value)| (name.to_owned(), model::Secret::new(value))).into()
}
