//! Where a server is between what was asked of it and what its agent reports.
//!
//! ```text
//! Coming ──► Serving ──► Due ──► Leaving ──► Coming      a restart
//!                         └────► Leaving ──► Stopping ──► Stopped ──► Coming
//! ```
//!
//! A broker that dies goes to `Coming` from wherever it is.

use super::ServerView;
use model::condition::Doing;
use wire::agent::Run;

/// Exactly one of these holds for a server of a cluster that shall run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Life {
    /// Its broker shall run and does not: never started, starting, failed, or on its way
    /// back from a restart.
    Coming,
    /// Its broker runs as asked.
    Serving,
    /// Its broker runs, and shall be restarted or stopped. Its agent does not know yet.
    Due(Doing),
    /// Its agent has been told to restart or stop its broker, which still runs.
    Leaving(Doing),
    /// Its broker shall not run, and its agent has not said that it has stopped. One that
    /// still starts may be in recovery, and is let come up first.
    Stopping,
    /// Its broker has stopped, as asked.
    Stopped,
}

impl ServerView {
    pub fn life(&self) -> Life {
        if self.server.wanted.is_stopped() {
            return match self.is_up() {
                true if self.is_told_to(Doing::Stopping) => Life::Leaving(Doing::Stopping),
                true => Life::Due(Doing::Stopping),
                false if self.is_stopped() => Life::Stopped,
                false => Life::Stopping,
            };
        }
        match self.is_up() {
            false => Life::Coming,
            true if self.is_current() => Life::Serving,
            true if self.is_told_to(Doing::Restarting) => Life::Leaving(Doing::Restarting),
            true => Life::Due(Doing::Restarting),
        }
    }

    /// Whether its agent's document says so; a broker that is due to be restarted keeps
    /// the document with the earlier launch until its turn has come.
    fn is_told_to(&self, doing: Doing) -> bool {
        self.desired.as_ref().is_some_and(|desired| match doing {
            Doing::Stopping => desired.run == Run::Stopped,
            Doing::Restarting => desired.launch == self.server.wanted.launch(),
        })
    }
}
