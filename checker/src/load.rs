//! Real clients that write while something happens to the cluster.
//!
//! Every record has a number, a partition and a moment. Clients are started and
//! known to work before the first record; they end by themselves when the load
//! is dropped. Librdkafka's clients are threads, the Java ones are threads of
//! one JVM.

mod closing;
mod group;
mod idempotent;
mod java;
mod librdkafka;
mod lines;
mod pace;
mod transactional;

use crate::history::{Recorder, Recording, Zero};
use crate::topic::{TopicSpec, make_topic};
use crate::{Access, Auth, Client, Event, History, Kind, Progress, Run};
use group::Group;
use java::Jvm;
use kafka::Endpoint;
use librdkafka::Writer;
use model::{Clock, Entropy, KafkaVersion, OsEntropy, SystemClock};
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tokio::sync::watch;

/// What is written, how and where.
#[derive(Clone, PartialEq, Debug)]
pub struct LoadSpec {
    pub brokers: Vec<Endpoint>,
    pub auth: Auth,
    pub topic: String,
    pub partitions: i32,
    pub replicas: i16,
    pub min_in_sync: i16,
    pub clients: Vec<Client>,
    /// Of all clients together.
    pub rate_per_second: u32,
    /// Of a value.
    pub bytes: usize,
    /// Whether a consumer group reads along.
    pub group: bool,
    /// How long a client may try to deliver a record before it gives it up.
    pub delivery_timeout: Duration,
    /// Where the history is written while it happens.
    pub history: Option<PathBuf>,
    /// The release whose Java client is used; the newest if none is named.
    pub java_client: Option<KafkaVersion>,
}

impl Default for LoadSpec {
    fn default() -> Self {
        Self {
            brokers: Vec::new(),
            auth: Auth::Plaintext,
            topic: "castellan-check".into(),
            partitions: 6,
            replicas: 3,
            min_in_sync: 2,
            clients: Client::ALL.into(),
            rate_per_second: 400,
            bytes: 100,
            group: true,
            // What a Java client has by default.
            delivery_timeout: Duration::from_mins(2),
            history: None,
            java_client: None,
        }
    }
}

impl LoadSpec {
    pub fn access(&self) -> Access {
        Access { brokers: self.brokers.clone(), auth: self.auth.clone() }
    }

    /// What one client writes in a second.
    fn rate_of_one(&self) -> f64 {
        let clients = u32::try_from(self.clients.len()).unwrap_or(u32::MAX);
        f64::from(self.rate_per_second.max(1)) / f64::from(clients.max(1))
    }

    fn check(&self) -> Result<(), LoadError> {
        let whether = |holds: bool, reason| if holds { Ok(()) } else { Err(reason) };
        whether(!self.brokers.is_empty(), "no broker is named")
            .and_then(|()| whether(!self.clients.is_empty(), "no client is named"))
            .and_then(|()| whether(self.partitions > 0, "a topic needs a partition"))
            .map_err(LoadError::Spec)
    }
}

#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    #[error("nothing can be written: {0}")]
    Spec(&'static str),
    #[error("the topic can't be made")]
    Topic(#[from] kafka::client::Error),
    #[error("client {client} ({what}) can't start: {reason}")]
    Client { client: usize, what: Client, reason: String },
    #[error("the consumer group can't start: {0}")]
    Group(String),
    #[error("the Java client can't start: {0}")]
    Java(String),
    #[error("the history can't be written: {0}")]
    History(io::Error),
}

/// What every writer needs to know.
#[derive(Clone)]
struct Job {
    access: Access,
    run: Run,
    rate: f64,
    bytes: usize,
    delivery_timeout: Duration,
    recorder: Recorder,
    /// Times count from when all clients are ready.
    zero: Zero,
    /// Set when it shall end.
    stop: Arc<AtomicBool>,
}

impl Job {
    fn is_over(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    fn trouble(&self, who: impl Into<String>, error: &impl ToString) {
        let (who, at, error) = (who.into(), self.zero.elapsed(), error.to_string());
        self.recorder.record(Event::Trouble { who, at, error });
    }
}

/// Ends the clients of a load that nobody stopped.
struct StopOnDrop(Arc<AtomicBool>);

impl Drop for StopOnDrop {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Clients that write until they are stopped.
pub struct Load {
    job: Job,
    _stop: StopOnDrop,
    recording: Recording,
    progress: watch::Receiver<Progress>,
    writers: Vec<Writer>,
    jvm: Option<Jvm>,
    group: Option<Group>,
}

impl Load {
    /// Makes the topic and starts the clients. On return all of them are ready
    /// and begin to write.
    pub async fn start(spec: &LoadSpec) -> Result<Self, LoadError> {
        spec.check()?;
        let access = spec.access();
        let (name, partitions) = (spec.topic.clone(), spec.partitions);
        let (replicas, min_in_sync) = (spec.replicas, spec.min_in_sync);
        let topic = TopicSpec { name, partitions, replicas, min_in_sync };
        // One that was there has as many as it has.
        let partitions = make_topic(&access, &topic).await?;
        let run = Run {
            id: OsEntropy.username(),
            topic: spec.topic.clone(),
            partitions,
            clients: spec.clients.clone(),
            group: spec.group,
            began: SystemClock.now(),
        };
        let (recorder, recording) =
            Recording::start(run.clone(), spec.history.as_deref()).map_err(LoadError::History)?;
        let job = Job {
            access,
            run,
            rate: spec.rate_of_one(),
            bytes: spec.bytes,
            delivery_timeout: spec.delivery_timeout,
            recorder,
            zero: Zero::default(),
            stop: Arc::default(),
        };
        let stop = StopOnDrop(Arc::clone(&job.stop));
        let jvm = Jvm::start(&job, spec.java_client).await?;
        let of_librdkafka = job.run.clients.iter().enumerate();
        let of_librdkafka = of_librdkafka.filter(|(_, client)| client.kind == Kind::Librdkafka);
        let mut writers = Vec::new();
        for (number, client) in of_librdkafka {
            writers.push(Writer::start(&job, number, *client).await?);
        }
        let group = if spec.group { Some(Group::start(&job)?) } else { None };
        job.zero.begin();
        for writer in &mut writers {
            writer.go();
        }
        if let Some(jvm) = &jvm {
            jvm.go().await?;
        }
        let progress = recording.progress();
        Ok(Self { job, _stop: stop, recording, progress, writers, jvm, group })
    }

    /// How far it is now.
    pub fn progress(&self) -> Progress {
        self.progress.borrow().clone()
    }

    pub fn run(&self) -> &Run {
        &self.job.run
    }

    /// Waits until every client has so many more records acknowledged than now;
    /// otherwise says how far it is.
    pub async fn goes_on(&self, more: u64, within: Duration) -> Result<(), Progress> {
        let goals: Vec<u64> = self.progress().acked_by_client.iter().map(|n| n + more).collect();
        let mut progress = self.progress.clone();
        let reached = progress.wait_for(|now| {
            now.acked_by_client.iter().zip(&goals).all(|(acked, goal)| acked >= goal)
        });
        let in_time = tokio::time::timeout(within, reached).await;
        if matches!(in_time, Ok(Ok(_))) { Ok(()) } else { Err(self.progress()) }
    }

    /// Ends the clients in an orderly way: what was sent is acknowledged or
    /// given up, and the consumer group has read all that there is.
    pub async fn stop(mut self) -> Result<History, LoadError> {
        self.job.stop.store(true, Ordering::Relaxed);
        let mut is_orderly = true;
        if let Some(jvm) = self.jvm.take() {
            is_orderly &= jvm.stop(&self.job).await;
        }
        for writer in self.writers.drain(..) {
            is_orderly &= writer.join(&self.job).await;
        }
        if let Some(group) = self.group.take() {
            let closed = closing::write(&self.job).await;
            group.finish(closed).await;
        }
        if is_orderly {
            self.job.recorder.record(Event::Ended { at: self.job.zero.elapsed() });
        }
        let Self { job, recording, .. } = self;
        drop(job);
        let finished = tokio::task::spawn_blocking(|| recording.finish()).await;
        finished.map_err(io::Error::other).flatten().map_err(LoadError::History)
    }
}
