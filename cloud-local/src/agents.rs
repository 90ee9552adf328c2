//! Watching agents: their ends are events, unless we asked for them.
//!
//! Each live agent has one watcher. A watcher whose agent was forgotten or
//! followed by another ends silently.

use crate::binary::AgentBinary;
use cloud::Disruption;
use host::ProcessId;
use model::{InstanceId, ServerId};
use rustix::process::Signal;
use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard};
use tokio::sync::broadcast;

#[derive(Clone, Debug)]
pub(crate) struct Agents {
    table: Arc<Mutex<Table>>,
    events: broadcast::Sender<Disruption>,
}

#[derive(Debug, Default)]
struct Table {
    watched: HashMap<ServerId, ProcessId>,
    /// Whom we asked to become which release. Asked again too soon, the new
    /// program would be hit before it can handle the signal.
    asked: HashMap<ServerId, (ProcessId, PathBuf)>,
}

impl Agents {
    pub(crate) fn new() -> Self {
        let (events, _) = broadcast::channel(1024);
        Self { table: Arc::default(), events }
    }

    pub(crate) fn subscribe(&self) -> broadcast::Receiver<Disruption> {
        self.events.subscribe()
    }

    /// Watches an agent that somebody else started, unless it is watched.
    pub(crate) fn watch(&self, server: ServerId, instance: InstanceId, agent: ProcessId) {
        let watch = agent.watch();
        self.follow(server, instance, agent, async move {
            if let Some(watch) = watch {
                watch.ended().await;
            }
        });
    }

    /// Watches an agent whose end is the end of the given future.
    pub(crate) fn follow(
        &self,
        server: ServerId,
        instance_id: InstanceId,
        agent: ProcessId,
        ended: impl Future<Output = ()> + Send + 'static,
    ) {
        let known = self.table().watched.insert(server, agent.clone());
        if known.as_ref() == Some(&agent) {
            return;
        }
        let agents = self.clone();
        tokio::spawn(async move {
            ended.await;
            if agents.forget_if(server, &agent) {
                tracing::warn!(%server, pid = agent.pid, "an agent ended");
                // That no task listens is no reason to fail.
                let _ = agents.events.send(Disruption { instance_id, server_id: server });
            }
        });
    }

    /// Its end is no longer news.
    pub(crate) fn forget(&self, server: ServerId) {
        self.table().watched.remove(&server);
    }

    fn forget_if(&self, server: ServerId, agent: &ProcessId) -> bool {
        let mut table = self.table();
        let is_same = table.watched.get(&server) == Some(agent);
        if is_same {
            table.watched.remove(&server);
        }
        is_same
    }

    /// Asks an agent of another release, once, to become this one in place.
    pub(crate) fn upgrade(&self, server: ServerId, agent: &ProcessId, binary: &AgentBinary) {
        if !binary.is_other_than_in(agent) {
            return;
        }
        let asked = (agent.clone(), binary.path().to_owned());
        let before = self.table().asked.insert(server, asked.clone());
        if before.as_ref() != Some(&asked) {
            tracing::info!(%server, pid = agent.pid, "an agent is asked to upgrade itself");
            agent.signal(Signal::HUP);
        }
    }

    fn table(&self) -> MutexGuard<'_, Table> {
        self.table.lock().expect("no holder of this lock panics")
    }
}
