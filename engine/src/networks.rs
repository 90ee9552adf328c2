//! The task that keeps networks as they shall be, beside the passes of instances: it removes
//! those that customers deleted, and sees to it that every server has its firewall rules.
//!
//! It takes no input but the store, so starting it anew is always right. Each network and each
//! server has chores of its own. One that is stuck is given up after a while and begun anew;
//! meanwhile it holds up no other, and no instance. However many are stuck, they take the places
//! of their class alone.

mod chore;
mod firewall;
mod memory;
mod removal;

use crate::Engine;
use chore::{Chore, Class, Subject};
use futures::future::join_all;
use memory::Memory;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::{Duration, Instant};
use store::{firewalls, pauses, vpcs};
use tokio::task::{Id, JoinError, JoinSet};
use tokio_util::sync::CancellationToken;

/// New rules are in effect within five seconds.
const LOOK: Duration = Duration::from_secs(1);
/// Longer than any chore takes that is not stuck.
const PATIENCE: Duration = Duration::from_secs(30);

/// Keeps networks until told to stop.
pub struct Networks {
    engine: Arc<Engine>,
    chores: JoinSet<bool>,
    /// The subject and class of each chore under way.
    busy: HashMap<Id, (Subject, Class)>,
    memory: Memory,
}

impl Networks {
    pub fn new(engine: Arc<Engine>) -> Self {
        let (chores, busy) = (JoinSet::new(), HashMap::new());
        Self { engine, chores, busy, memory: Memory::default() }
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

    /// Does once everything that could be due, and returns when that has ended.
    pub async fn settle(&self) -> store::Result<()> {
        let all = self.all().await?;
        join_all(all.iter().map(|chore| chore.carry_out(&self.engine))).await;
        Ok(())
    }

    async fn start_due(&mut self) {
        let all = match self.all().await {
            Ok(all) => all,
            Err(error) => {
                tracing::warn!(%error, "the engine can't read which networks to look after");
                return;
            }
        };
        self.memory.retain(&all.iter().map(Chore::subject).collect::<HashSet<_>>());
        for chore in self.due(all, Instant::now()) {
            let class = chore.class(self.memory.has_failed(chore.subject()));
            let busy = self.busy.values().filter(|(_, busy)| *busy == class).count();
            if busy < class.places() {
                self.start(chore, class);
            }
        }
    }

    fn start(&mut self, chore: Chore, class: Class) {
        let (engine, subject) = (Arc::clone(&self.engine), chore.subject());
        let task = self.chores.spawn(async move {
            let ended = tokio::time::timeout(PATIENCE, chore.carry_out(&engine)).await;
            ended.unwrap_or_else(|_| {
                tracing::warn!(%chore, seconds = PATIENCE.as_secs(), "a chore is stuck");
                false
            })
        });
        self.busy.insert(task.id(), (subject, class));
    }

    /// Everything that there may be to do.
    async fn all(&self) -> store::Result<Vec<Chore>> {
        let mut reader = self.engine.store.reader();
        if pauses::is_all_paused(&mut reader).await? {
            return Ok(Vec::new());
        }
        let removable = vpcs::list_removable(&mut reader).await?;
        let turns = firewalls::turns_on(&mut reader, self.engine.host_id).await?;
        let turns = turns.into_iter().map(Chore::Firewall);
        Ok(removable.into_iter().map(Chore::Removal).chain(turns).collect())
    }

    /// What has to be done now: what is only to be confirmed comes last.
    fn due(&self, mut all: Vec<Chore>, now: Instant) -> Vec<Chore> {
        all.retain(|chore| {
            let subject = chore.subject();
            let is_busy = self.busy.values().any(|(busy, _)| *busy == subject);
            !is_busy && !self.memory.rests(subject, now)
        });
        let has_rules = |chore: &Chore| match chore {
            Chore::Removal(_) => false,
            Chore::Firewall(turn) => self.memory.has_rules(turn, now),
        };
        all.retain(|chore| !has_rules(chore));
        all.sort_by_key(|chore| match chore {
            Chore::Removal(_) => false,
            Chore::Firewall(turn) => turn.revision == turn.applied,
        });
        all
    }

    fn note_end(&mut self, ended: Result<(Id, bool), JoinError>) {
        let task = ended.as_ref().map_or_else(JoinError::id, |(task, _)| *task);
        let Some((subject, _)) = self.busy.remove(&task) else { return };
        let is_done = match ended {
            Ok((_, is_done)) => is_done,
            Err(error) => {
                // A panic is a bug, and the next try may well meet it again.
                tracing::error!(%error, ?subject, "a chore panicked");
                false
            }
        };
        self.memory.note(subject, is_done, Instant::now());
    }
}
