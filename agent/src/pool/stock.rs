//! The JVMs of a pool that are ready, and giving them away.

use super::Offer;
use super::keep::PoolHost;
use crate::launcher::Launch;
use crate::successor::{Home, Successor};
use host::{Asker, ProcessId};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard};
use std::time::Duration;
use tokio::task::spawn_blocking;
use tokio::time::{Instant, timeout};

/// So long an agent may take to send its question, and then to take the answer.
const PATIENCE: Duration = Duration::from_secs(2);
/// So long a JVM that is not wanted any more waits for the servers of an instance that is just
/// being created.
pub(super) const GRACE: Duration = Duration::from_mins(1);
/// So long no JVM is warmed up after one was given away: its server is starting.
const PAUSE_AFTER_HANDOVER: Duration = Duration::from_secs(10);

/// One JVM that is ready.
pub(super) struct Spare {
    pub(super) successor: Successor,
    pub(super) launch: Launch,
    pub(super) home: Home,
    /// The uid that it was given; none if all share ours.
    pub(super) uid: Option<u32>,
    pub(super) unwanted_since: Option<Instant>,
}

impl Spare {
    fn is_for(&self, asker: u32) -> bool {
        self.uid.or_else(|| ProcessId::own().uid()) == Some(asker)
    }

    fn is_alive(&self) -> bool {
        self.successor.process().is_some_and(ProcessId::is_alive)
    }

    /// Everything of it goes but for what is a broker by now.
    fn end(self) {
        let directory = self.home.directory.clone();
        drop(self.successor);
        remove(&directory);
    }
}

pub(super) struct Stock {
    ready: Mutex<Vec<Spare>>,
    pause_ends: Mutex<Instant>,
}

impl Stock {
    pub(super) fn new() -> Self {
        Self {
            ready: Mutex::default(),
            // Brokers that have to start with the control plane go first.
            pause_ends: Mutex::new(Instant::now() + PAUSE_AFTER_HANDOVER),
        }
    }

    pub(super) fn add(&self, spare: Spare) {
        self.ready().push(spare);
    }

    pub(super) fn processes(&self) -> Vec<ProcessId> {
        self.ready().iter().filter_map(|spare| spare.successor.process().cloned()).collect()
    }

    pub(super) fn may_fill(&self) -> bool {
        Instant::now() >= *self.pause_ends.lock().expect("it is not poisoned")
    }

    /// Ends those that died, and those that were not wanted for a while: too many, not what
    /// is wanted, or of a uid that an instance has got by now. Until then the servers of an
    /// instance that is just being created may ask for them. Returns how many are left for
    /// the next instance.
    pub(super) fn tidy(
        &self,
        host: &dyn PoolHost,
        launch: Option<&Launch>,
        most: usize,
        now: Instant,
    ) -> usize {
        let (mut kept, mut over) = (0, Vec::new());
        let mut ready = self.ready();
        for mut spare in std::mem::take(&mut *ready) {
            let is_given = spare.uid.is_some_and(|uid| !host.is_reserved(uid));
            if !is_given && Some(&spare.launch) == launch && kept < most {
                kept += 1;
                spare.unwanted_since = None;
            } else {
                spare.unwanted_since.get_or_insert(now);
            }
            let is_over = spare.unwanted_since.is_some_and(|since| now - since >= GRACE);
            if is_over || !spare.is_alive() { over.push(spare) } else { ready.push(spare) }
        }
        drop(ready);
        end_aside(over);
        kept
    }

    /// Whether an agent of that user could get one at all.
    pub(super) fn has_for(&self, asker: u32) -> bool {
        self.ready().iter().any(|spare| spare.is_for(asker))
    }

    /// Answers an agent. A JVM is handed over only once it is in the group of that server.
    pub(super) async fn answer(&self, host: &dyn PoolHost, mut asker: Asker) -> io::Result<()> {
        let question = timeout(PATIENCE, asker.question()).await??;
        let launch: Launch = serde_json::from_str(&question)?;
        let Some(spare) = self.pick(&launch, asker.uid) else { return Ok(()) };
        *self.pause_ends.lock().expect("it is not poisoned") =
            Instant::now() + PAUSE_AFTER_HANDOVER;
        let process = spare.successor.process().cloned();
        let entered = match &process {
            Some(process) => host.enter_group(asker.pid, process),
            None => Err("it has ended".into()),
        };
        // From here on it is its agent's, and not ended as a leftover of ours.
        let marked = entered.and_then(|()| {
            fs::write(taken_mark(&spare.home.directory), "").map_err(|error| error.to_string())
        });
        if let Err(reason) = marked {
            tracing::warn!(?process, reason, "a warm JVM is not given away");
            end_aside(vec![spare]);
            return Ok(());
        }
        let Spare { successor, home, .. } = spare;
        let Some((process, input, ended)) = successor.release() else { return Ok(()) };
        let offer = Offer { process: process.clone(), output: home.output };
        let words = serde_json::to_string(&offer).expect("plain data serialises");
        tracing::info!(pid = process.pid, agent = asker.pid, "a warm JVM is given to an agent");
        let given = timeout(PATIENCE, asker.give(&words, input)).await;
        tokio::spawn(async move {
            ended.await;
            let _ = spawn_blocking(move || remove(&home.directory)).await;
        });
        given?
    }

    fn pick(&self, launch: &Launch, asker: u32) -> Option<Spare> {
        let fits =
            |spare: &Spare| spare.is_alive() && spare.launch == *launch && spare.is_for(asker);
        let mut ready = self.ready();
        let position = ready.iter().position(fits)?;
        Some(ready.remove(position))
    }

    fn ready(&self) -> MutexGuard<'_, Vec<Spare>> {
        self.ready.lock().expect("it is not poisoned")
    }
}

/// Beside the directory of one that was given away. Its own directory is its user's, who
/// could put anything there.
pub(super) fn taken_mark(directory: &Path) -> PathBuf {
    directory.with_extension("taken")
}

/// Ends them on a thread for things that block: a tenant may have filled their directories.
pub(super) fn end_aside(over: Vec<Spare>) {
    if !over.is_empty() {
        spawn_blocking(move || over.into_iter().for_each(Spare::end));
    }
}

/// Removes the directory of one that has ended. Blocks.
pub(super) fn remove(directory: &Path) {
    for path in [directory, &taken_mark(directory)] {
        if let Err(error) = host::remove_tree(path) {
            tracing::warn!(path = %path.display(), %error, "files of a warm JVM stay");
        }
    }
    // That of its user; one that is not empty stays.
    let _ = directory.parent().map(fs::remove_dir);
}
