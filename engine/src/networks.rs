//! The task that keeps networks as they shall be, beside the passes of instances: it removes
//! those that customers deleted, and sees to it that every server has its firewall rules.
//!
//! It takes no input but the store, so starting it anew is always right. Each network and each
//! server has a chore of its own. One that is stuck is given up after a while and begun anew;
//! meanwhile it holds up no other, and no instance.

mod chore;
mod firewall;
mod removal;

use crate::Engine;
use chore::Chore;
use futures::future::join_all;
use model::ServerId;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::time::{Duration, Instant};
use store::{firewalls, pauses, vpcs};
use tokio::task::{Id, JoinError, JoinSet};
use tokio_util::sync::CancellationToken;

/// New rules are in effect within five seconds.
const LOOK: Duration = Duration::from_secs(1);
/// How many chores go on at a time.
const PARALLEL: usize = 16;
/// Longer than any chore takes that is not stuck.
const PATIENCE: Duration = Duration::from_secs(30);
/// What somebody else took away from a server is put back within a minute.
const CONFIRM: Duration = Duration::from_secs(20);

/// Keeps networks until told to stop.
pub struct Networks {
    engine: Arc<Engine>,
    chores: JoinSet<bool>,
    busy: HashMap<Id, Chore>,
    /// When servers were last seen to have their rules.
    confirmed: BTreeMap<ServerId, Instant>,
}

impl Networks {
    pub fn new(engine: Arc<Engine>) -> Self {
        Self { engine, chores: JoinSet::new(), busy: HashMap::new(), confirmed: BTreeMap::new() }
    }

    /// Chores under way end with it, wherever they are: the next start begins them anew.
    pub async fn run(mut self, stop: CancellationToken) {
        let mut look = tokio::time::interval(LOOK);
        loop {
            tokio::select! {
                () = stop.cancelled() => break,
                _ = look.tick() => self.start_due().await,
                Some(ended) = self.chores.join_next_with_id() => self.note_end(ended),
            }
        }
        self.chores.shutdown().await;
    }

    /// Does everything there is to do once, and returns when that has ended.
    pub async fn settle(&mut self) {
        let due = self.due().await.unwrap_or_default();
        join_all(due.iter().map(|chore| chore.carry_out(&self.engine))).await;
    }

    async fn start_due(&mut self) {
        let due = match self.due().await {
            Ok(due) => due,
            Err(error) => {
                tracing::warn!(%error, "the engine can't read which networks to look after");
                return;
            }
        };
        for chore in due {
            if self.chores.len() >= PARALLEL {
                return;
            }
            if self.busy.values().any(|busy| busy.is_of_same(&chore)) {
                continue;
            }
            let (engine, of) = (Arc::clone(&self.engine), chore.clone());
            let carried_out = async move {
                let ended = tokio::time::timeout(PATIENCE, of.carry_out(&engine)).await;
                ended.unwrap_or_else(|_| {
                    tracing::warn!(chore = %of, seconds = PATIENCE.as_secs(), "it is stuck");
                    false
                })
            };
            let task = self.chores.spawn(carried_out);
            self.busy.insert(task.id(), chore);
        }
    }

    /// First what changed, then what is only to be confirmed.
    async fn due(&mut self) -> store::Result<Vec<Chore>> {
        let mut reader = self.engine.store.reader();
        if pauses::is_all_paused(&mut reader).await? {
            return Ok(Vec::new());
        }
        let removable = vpcs::list_removable(&mut reader).await?;
        let turns = firewalls::turns_on(&mut reader, self.engine.host_id).await?;
        let now = Instant::now();
        self.confirmed.retain(|id, _| turns.iter().any(|turn| turn.server_id == *id));
        let is_confirmed = |id: &ServerId| {
            self.confirmed.get(id).is_some_and(|at| now.duration_since(*at) < CONFIRM)
        };
        let (changed, others): (Vec<_>, Vec<_>) =
            turns.into_iter().partition(|turn| turn.revision != turn.applied);
        let unconfirmed = others.into_iter().filter(|turn| !is_confirmed(&turn.server_id));
        let firewalls = changed.into_iter().chain(unconfirmed).map(Chore::Firewall);
        Ok(removable.into_iter().map(Chore::Removal).chain(firewalls).collect())
    }

    fn note_end(&mut self, ended: Result<(Id, bool), JoinError>) {
        let task = ended.as_ref().map_or_else(JoinError::id, |(task, _)| *task);
        let chore = self.busy.remove(&task);
        match (ended, chore) {
            (Ok((_, true)), Some(Chore::Firewall(turn))) => {
                self.confirmed.insert(turn.server_id, Instant::now());
            }
            (Err(error), Some(chore)) => {
                // A panic is a bug, and the next try may well meet it again.
                tracing::error!(%error, %chore, "a chore panicked");
            }
            _ => {}
        }
    }
}
