//! The task that keeps passes running: it finds the instances that are due and
//! works on several at a time. It takes no input but the store, so starting it
//! anew is always right.

use crate::{Engine, PassError, Rest};
use cloud::Disruption;
use futures::stream::{FuturesUnordered, StreamExt};
use model::{InstanceId, SignedDuration, Timestamp};
use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};
use store::{Change, instances, set_back};
use tokio::sync::broadcast::Receiver;
use tokio::task::{Id, JoinError, JoinSet};
use tokio_util::sync::CancellationToken;

/// Instances worked on at a time by one process.
const PARALLEL: usize = 8;
/// Wake-ups by other processes may be missed, and are then found by looking.
const LOOK: Duration = Duration::from_secs(1);
/// A pass that failed as a whole, or an instance that another worker has.
const PAUSE: Duration = Duration::from_secs(2);
/// A clock is set back by more; less is made good by looking.
const SET_BACK: SignedDuration = SignedDuration::from_secs(1);

type Ended = Result<Rest, PassError>;

/// Runs an engine until told to stop.
pub struct Runner {
    engine: Arc<Engine>,
    passes: JoinSet<Ended>,
    /// The instance of each task under way.
    busy: HashMap<Id, InstanceId>,
    /// Instances left alone until then.
    paused: HashMap<InstanceId, Instant>,
    /// What the clock said last, to know when it is set back. None: it may have been since
    /// the last run.
    latest: Option<Timestamp>,
}

impl Runner {
    pub fn new(engine: Arc<Engine>) -> Self {
        let (passes, busy, paused) = (JoinSet::new(), HashMap::new(), HashMap::new());
        let latest = Some(engine.clock.now());
        Self { engine, passes, busy, paused, latest }
    }

    /// Returns once told to stop and the steps under way have ended.
    pub async fn run(mut self, stop: CancellationToken) {
        let mut changes = self.engine.store.changes();
        let mut clouds: Vec<Receiver<Disruption>> =
            self.engine.clouds.all().map(|cloud| cloud.events()).collect();
        loop {
            self.look_at_clock().await;
            let wait = self.start_due().await;
            tokio::select! {
                () = stop.cancelled() => break,
                () = tokio::time::sleep(wait) => {}
                Ok(_) = changes.recv() => drain(&mut changes),
                Some(disruption) = disruption(&mut clouds) => self.disrupted(disruption).await,
                Some(ended) = self.passes.join_next_with_id() => self.ended(ended),
            }
        }
        while self.passes.join_next().await.is_some() {}
    }

    /// After a start nothing that was seen before can be relied upon. Called
    /// before callers can ask, so that none gets what was true long ago.
    pub async fn look_at_everything(&mut self) {
        let now = self.engine.clock.now();
        let woken = async {
            let mut work = self.engine.store.begin().await?;
            set_back::look_again(&mut work, self.engine.host_id, now).await?;
            instances::forget_all(&mut work, self.engine.host_id, now).await?;
            work.commit().await
        };
        if let Err(error) = woken.await {
            tracing::warn!(%error, "instances could not be woken at start");
            self.latest = None;
        }
    }

    /// After the clock was set back, nothing waits until it shows the time of before
    /// again. Tried again until the store has it.
    async fn look_at_clock(&mut self) {
        let now = self.engine.clock.now();
        if let Some(latest) = self.latest {
            let by = latest.duration_since(now);
            if by <= SET_BACK {
                self.latest = Some(latest.max(now));
                return;
            }
            tracing::warn!(%by, "the clock was set back; every instance is looked at anew");
        }
        let looked = async {
            let mut work = self.engine.store.begin().await?;
            set_back::look_again(&mut work, self.engine.host_id, now).await?;
            work.commit().await
        };
        match looked.await {
            Ok(()) => self.latest = Some(now),
            Err(error) => tracing::warn!(%error, "instances could not be woken"),
        }
    }

    /// Starts a pass for each instance that is due, and says how long nothing
    /// will be.
    async fn start_due(&mut self) -> Duration {
        let now = self.engine.clock.now();
        let mut reader = self.engine.store.reader();
        let due = match instances::due_on(&mut reader, self.engine.host_id, now).await {
            Ok(due) => due,
            Err(error) => {
                tracing::warn!(%error, "the engine can't read what is due");
                return LOOK;
            }
        };
        self.paused.retain(|_, until| *until > Instant::now());
        for id in due {
            if self.passes.len() >= PARALLEL {
                return LOOK;
            }
            let busy = self.busy.values().any(|busy| *busy == id);
            if !busy && !self.paused.contains_key(&id) {
                let engine = Arc::clone(&self.engine);
                let task = self.passes.spawn(async move { engine.pass(id).await });
                self.busy.insert(task.id(), id);
            }
        }
        let horizon = now.saturating_add(LOOK).unwrap_or(Timestamp::MAX);
        match instances::next_due_on(&mut reader, self.engine.host_id, horizon).await {
            Ok(Some(next)) if next > now => until(now, next).min(LOOK),
            _ => LOOK,
        }
    }

    async fn disrupted(&self, disruption: Disruption) {
        let Disruption { instance_id, server_id } = disruption;
        tracing::info!(instance = %instance_id, server = %server_id, "a server's agent has ended");
        let woken = async {
            let mut work = self.engine.store.begin().await?;
            instances::wake(&mut work, instance_id, self.engine.clock.now()).await?;
            work.commit().await
        };
        if let Err(error) = woken.await {
            tracing::warn!(%error, instance = %instance_id, "could not wake an instance");
        }
    }

    fn ended(&mut self, ended: Result<(Id, Ended), JoinError>) {
        let task = ended.as_ref().map_or_else(JoinError::id, |(task, _)| *task);
        let Some(id) = self.busy.remove(&task) else { return };
        match ended {
            Ok((_, Ok(Rest::Until(_) | Rest::Gone))) => {}
            Ok((_, Ok(Rest::NotOurs))) => self.pause(id),
            Ok((_, Err(error))) => {
                metrics::counter!("castellan_pass_errors_total").increment(1);
                tracing::warn!(%error, instance = %id, "a pass failed");
                self.pause(id);
            }
            Err(error) => {
                // A panic is a bug, and the next pass may well meet it again.
                metrics::counter!("castellan_pass_errors_total").increment(1);
                tracing::error!(%error, instance = %id, "a pass panicked");
                self.pause(id);
            }
        }
    }

    fn pause(&mut self, id: InstanceId) {
        self.paused.insert(id, Instant::now() + PAUSE);
    }
}

/// Many changes at once need one look.
fn drain(changes: &mut Receiver<Change>) {
    while changes.try_recv().is_ok() {}
}

/// The next disruption from any cloud; none for ever if there is no cloud.
async fn disruption(clouds: &mut [Receiver<Disruption>]) -> Option<Disruption> {
    let mut waiting: FuturesUnordered<_> = clouds.iter_mut().map(Receiver::recv).collect();
    match waiting.next().await {
        Some(Ok(disruption)) => Some(disruption),
        // Lagged or closed: passes confirm every server anyway.
        _ => None,
    }
}

fn until(now: Timestamp, next: Timestamp) -> Duration {
    Duration::try_from(next.duration_since(now)).unwrap_or_default()
}
