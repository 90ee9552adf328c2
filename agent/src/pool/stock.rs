//! The JVMs of a pool that are ready, and giving them away.

use super::Offer;
use super::keep::PoolHost;
use crate::launcher::Launch;
use crate::successor::{Home, Successor};
use host::{Asker, ProcessId};
use std::collections::HashMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard};
use std::time::Duration;
use tokio::time::{Instant, timeout};

/// One that connects has something to ask.
const PATIENCE: Duration = Duration::from_secs(2);
/// So long those of a batch wait for the other servers of the instance that got their uid.
const GRACE: Duration = Duration::from_mins(1);
/// So long nothing is warmed up after one was given away: its server is starting.
const REST: Duration = Duration::from_secs(10);

/// One JVM that is ready.
pub(super) struct Spare {
    pub(super) successor: Successor,
    pub(super) launch: Launch,
    pub(super) home: Home,
    /// The uid that it was given; none if all share ours.
    pub(super) uid: Option<u32>,
}

impl Spare {
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
    rest_ends: Mutex<Instant>,
    /// When it was seen first that an instance has the uid.
    given: Mutex<HashMap<u32, Instant>>,
}

impl Stock {
    pub(super) fn new() -> Self {
        Self {
            ready: Mutex::default(),
            rest_ends: Mutex::new(Instant::now() + REST),
            given: Mutex::default(),
        }
    }

    pub(super) fn add(&self, spare: Spare) {
        self.ready().push(spare);
    }

    pub(super) fn processes(&self) -> Vec<ProcessId> {
        self.ready().iter().filter_map(|spare| spare.successor.process().cloned()).collect()
    }

    pub(super) fn may_fill(&self) -> bool {
        Instant::now() >= *self.rest_ends.lock().expect("it is not poisoned")
    }

    /// Ends those that died, that are not what is wanted, or too many. Returns how many are
    /// left for whoever comes next.
    pub(super) fn tidy(&self, host: &dyn PoolHost, launch: Option<&Launch>, most: usize) -> usize {
        let mut kept = 0;
        let mut ready = self.ready();
        for spare in std::mem::take(&mut *ready) {
            if !spare.is_alive() || Some(&spare.launch) != launch {
                spare.end();
            } else if let Some(uid) = spare.uid.filter(|uid| !host.is_reserved(*uid)) {
                let mut given = self.given.lock().expect("it is not poisoned");
                let since = *given.entry(uid).or_insert_with(Instant::now);
                if since.elapsed() < GRACE { ready.push(spare) } else { spare.end() }
            } else if kept < most {
                kept += 1;
                ready.push(spare);
            } else {
                spare.end();
            }
        }
        let mut given = self.given.lock().expect("it is not poisoned");
        given.retain(|uid, _| ready.iter().any(|spare| spare.uid == Some(*uid)));
        kept
    }

    /// Answers one that asks. Nothing is handed over that is not in its server's group.
    pub(super) async fn answer(&self, host: &dyn PoolHost, mut asker: Asker) -> io::Result<()> {
        let question = timeout(PATIENCE, asker.question()).await??;
        let launch: Launch = serde_json::from_str(&question)?;
        let Some(spare) = self.pick(&launch, asker.uid) else { return Ok(()) };
        *self.rest_ends.lock().expect("it is not poisoned") = Instant::now() + REST;
        let Spare { successor, home, .. } = spare;
        let Some(process) = successor.process().cloned() else { return Ok(()) };
        if let Err(reason) = host.enter_group(asker.pid, &process) {
            tracing::warn!(pid = process.pid, reason, "a warm JVM is not given away");
            return Ok(());
        }
        // From here on it is its agent's, and not ended as a leftover of ours.
        fs::write(taken_mark(&home.directory), "")?;
        let Some((process, input, ended)) = successor.release() else { return Ok(()) };
        let offer = Offer { process: process.clone(), output: home.output };
        let words = serde_json::to_string(&offer).expect("plain data serialises");
        tracing::info!(pid = process.pid, agent = asker.pid, "a warm JVM is given to an agent");
        let given = timeout(PATIENCE, asker.give(&words, input)).await;
        tokio::spawn(async move {
            ended.await;
            remove(&home.directory);
        });
        given?
    }

    fn pick(&self, launch: &Launch, asker: u32) -> Option<Spare> {
        let own = ProcessId::own().uid();
        let fits = |spare: &Spare| {
            spare.is_alive() && spare.launch == *launch && spare.uid.or(own) == Some(asker)
        };
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

/// Removes the directory of one that has ended.
pub(super) fn remove(directory: &Path) {
    for path in [directory, &taken_mark(directory)] {
        if let Err(error) = host::remove_tree(path) {
            tracing::warn!(path = %path.display(), %error, "files of a warm JVM stay");
        }
    }
}
