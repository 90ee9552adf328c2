//! One server of a simulated cluster: its process, and what it has read.

use super::metadata::Metadata;
use crate::Endpoint;
use model::{ServerRole, Timestamp};
use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;
use uuid::Uuid;

/// A server as its operator knows it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SimNode {
    pub id: i32,
    pub roles: Vec<ServerRole>,
    /// Where brokers and the control plane come in.
    pub internal: Endpoint,
    /// Where customers log in.
    pub sasl: Endpoint,
}

/// What a server's process does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Process {
    Down,
    Starting,
    /// It reads through its logs, because it did not end in an orderly way.
    Recovering,
    /// It would serve, but no controller lets it in yet.
    Waiting,
    Running,
    /// It was asked to end and moves its leaders away.
    Stopping,
}

#[expect(clippy::struct_excessive_bools, reason = "five facts that are true apart")]
pub(super) struct Node {
    pub spec: SimNode,
    pub process: Process,
    /// When the process goes on by itself.
    pub due: Option<Timestamp>,
    /// A controller has moved its leaders away.
    pub drained: bool,
    /// It ended in an orderly way, or never ran.
    pub clean: bool,
    /// It stands still, as after SIGSTOP.
    pub frozen: bool,
    /// It copies what it follows.
    pub fetches: bool,
    /// It was asked for a producer since it started, and has some since then.
    pub has_producers: bool,
    /// The controller has not heard of it since.
    pub silent_since: Option<Timestamp>,
    /// How much of the metadata log is on its disk, and since when all of it.
    pub end: i64,
    pub caught_up: Timestamp,
    /// When it will have read what it missed of the metadata log.
    pub joins_at: Option<Timestamp>,
    pub rack: Option<String>,
    /// Size of its disk, if it was given one.
    pub disk_bytes: Option<u64>,
    /// Of its log directory.
    pub directory: Uuid,
    /// Controllers that its configuration names; none for all that there are.
    pub bootstrap: Option<BTreeSet<i32>>,
    view: Arc<Metadata>,
    /// Changes on their way to it.
    coming: VecDeque<(Timestamp, Arc<Metadata>)>,
    held_until: Option<Timestamp>,
}

impl Node {
    pub fn new(spec: SimNode, now: Timestamp) -> Self {
        let directory = Uuid::from_u128(0x5111 << 64 | u128::from(spec.id.unsigned_abs()));
        Self {
            spec,
            process: Process::Down,
            due: None,
            drained: false,
            clean: true,
            frozen: false,
            fetches: true,
            has_producers: false,
            silent_since: None,
            end: 0,
            caught_up: now,
            joins_at: None,
            rack: None,
            disk_bytes: None,
            directory,
            bootstrap: None,
            view: Arc::default(),
            coming: VecDeque::new(),
            held_until: None,
        }
    }

    pub fn is_broker(&self) -> bool {
        self.spec.roles.contains(&ServerRole::Broker)
    }

    pub fn is_controller(&self) -> bool {
        self.spec.roles.contains(&ServerRole::Controller)
    }

    /// Its broker works: it serves, copies, and tells the controller.
    pub fn works(&self) -> bool {
        let up = matches!(self.process, Process::Running | Process::Stopping);
        up && !self.frozen && self.is_broker()
    }

    /// Its controller works.
    pub fn votes(&self) -> bool {
        let up = !matches!(self.process, Process::Down | Process::Starting);
        up && !self.frozen && self.is_controller()
    }

    /// Keeps what it knows for a while, whatever happens.
    pub fn hold(&mut self, until: Timestamp) {
        self.held_until = Some(until);
    }

    pub fn is_held(&self, now: Timestamp) -> bool {
        self.held_until.is_some_and(|until| until > now)
    }

    /// A change that it will have read by then.
    pub fn send(&mut self, at: Timestamp, metadata: &Arc<Metadata>) {
        self.coming.push_back((at, metadata.clone()));
    }

    /// It has read everything, as after a start or after a write through it.
    pub fn sees_all(&mut self, metadata: &Arc<Metadata>) {
        self.coming.clear();
        self.view = metadata.clone();
        self.held_until = None;
    }

    /// What it knows now.
    pub fn view(&mut self, now: Timestamp) -> Arc<Metadata> {
        if !self.is_held(now) {
            while self.coming.front().is_some_and(|(at, _)| *at <= now) {
                self.view = self.coming.pop_front().expect("it is there").1;
            }
        }
        self.view.clone()
    }
}
