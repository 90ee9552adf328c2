//! The agent: makes one server what the control plane desires, and reports.
//!
//! It obeys the last desired state alone when the control plane is away. It
//! outlives the control plane, and its broker outlives it: a new agent adopts
//! the broker that runs. It reads and changes only its own server's directory.

mod ballast;
mod board;
mod broker;
mod certificates;
mod connection;
mod desired;
mod disk;
mod ending;
mod goal;
mod identity;
mod jvm;
mod keeper;
mod launcher;
mod leave;
mod link;
mod log_files;
mod log_tail;
mod logs;
mod metrics;
mod own_user;
mod pace;
mod place;
pub mod pool;
mod prepare;
mod start;
mod start_slots;
mod successor;
mod supervisor;
mod unresponsive_shutdown;
mod warmth;

#[cfg(test)]
mod successor_tests;
#[cfg(test)]
mod supervisor_testing;
#[cfg(test)]
mod testing;

use board::{Board, View};
use broker::Broker;
use goal::Goal;
use host::{DirLock, LockError, ProcessId};
use link::Link;
use logs::{Ledger, Logs};
use metrics::Sampler;
use model::{OsEntropy, SystemClock};
use own_user::UserError;
use pace::Pace;
use place::Place;
use start::StartError;
use start_slots::StartSlots;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use supervisor::Supervisor;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::watch;
use tokio::task::JoinError;
use tokio::time::timeout;
use warmth::Warmth;

/// How long the last report may hold up the end of the agent.
const FAREWELL: Duration = Duration::from_secs(1);

/// Why an agent can't work at all.
#[derive(Debug, thiserror::Error)]
pub enum AgentError {
    #[error("{} can't be used: {source}", path.display())]
    Directory { path: PathBuf, source: io::Error },
    #[error("another agent works here: {0}")]
    Taken(#[from] LockError),
    #[error(transparent)]
    Start(#[from] StartError),
    #[error(transparent)]
    User(#[from] UserError),
    #[error("signals can't be handled: {0}")]
    Signals(io::Error),
    #[error("the agent's {part} failed and has to be started anew: {reason}")]
    Part { part: &'static str, reason: String },
}

/// The whole life of an agent process, until SIGTERM. On SIGHUP it becomes
/// `bin/current` in place, and the broker stays.
pub async fn run(dir: PathBuf) -> Result<(), AgentError> {
    // Signals first: one that comes before its handler would end us.
    let mut signals = Signals::new().map_err(AgentError::Signals)?;
    let unusable = |source| AgentError::Directory { path: dir.clone(), source };
    let place = Place::open(&dir).map_err(unusable)?;
    if Broker::adopt(&place).is_none() {
        own_user::take(&place)?;
    }
    let _lock = DirLock::try_take(place.dir())?;
    ProcessId::own().save(&place.agent_pid()).map_err(unusable)?;
    let start = start::load(&place)?;

    let held = desired::load(&place, &start);
    let board = Board::default();
    let (desired, desired_seen) = watch::channel(held);
    let (goal, goal_seen) = watch::channel(Goal::Wait("waiting for the control plane".into()));
    let (shutdown, shutdown_seen) = watch::channel(false);
    let (reported, reported_seen) = watch::channel(None);
    let (connection, connection_seen) = watch::channel(None);
    let (integrations, integrations_announced) = watch::channel(None);
    let ledger = Ledger::default();

    let sampler = Sampler {
        place: place.clone(),
        clock: Arc::new(SystemClock),
        start: start.clone(),
        board: board.clone(),
        desired: desired_seen.clone(),
        connection: connection_seen.clone(),
        ledger: ledger.clone(),
    };
    let sampler = tokio::spawn(sampler.run());
    let logs = Logs {
        place: place.clone(),
        clock: Arc::new(SystemClock),
        entropy: Arc::new(OsEntropy),
        board: board.clone(),
        ledger,
        announced: integrations_announced,
        connection: connection_seen,
    };
    let logs = tokio::spawn(logs.run());
    let ballast = tokio::spawn(ballast::keep(place.clone(), board.clone()));
    let log_files = tokio::spawn(log_files::keep_small(place.clone()));
    let keeper = tokio::spawn(keeper::keep(place.clone(), desired_seen, board.clone(), goal));
    let link = Link {
        place: place.clone(),
        clock: Arc::new(SystemClock),
        board: board.clone(),
        desired,
        reported,
        connection,
        integrations,
        enrolment: <_>::default(),
    };
    let link = tokio::spawn(link.run());
    let supervisor = Supervisor {
        place: place.clone(),
        launcher: Arc::new(jvm::Jvm { place: place.clone() }),
        leave: Arc::new(leave::ControlPlane { place: place.clone(), board: board.clone() }),
        clock: Arc::new(SystemClock),
        pace: Pace::BROKER,
        start_slots: StartSlots::on_host_of(&place),
        start_slot: None,
        board: board.clone(),
        goal: goal_seen,
        shutdown: shutdown_seen,
        restarts: 0,
        returns: false,
        successor: None,
        warmth: Warmth::default(),
        cold_next: false,
    };
    let mut supervisor = tokio::spawn(supervisor.run());

    // An agent without one of its parts would look alive and do nothing.
    tokio::select! {
        () = signals.until_end(&place) => {}
        ended = &mut supervisor => return Err(failed("supervisor", ended)),
        ended = keeper => return Err(failed("keeper of certificates", ended)),
        ended = link => return Err(failed("link to the control plane", ended)),
        ended = sampler => return Err(failed("sampler of metrics", ended)),
        ended = ballast => return Err(failed("keeper of the ballast", ended)),
        ended = log_files => return Err(failed("keeper of log files", ended)),
        ended = logs => return Err(failed("sender of logs", ended)),
    }
    tracing::info!("stopping the broker, then ending");
    shutdown.send_replace(true);
    let ended = supervisor.await;
    if ended.is_err() {
        return Err(failed("supervisor", ended));
    }
    say_farewell(reported_seen, &board).await;
    Ok(())
}

fn failed(part: &'static str, ended: Result<(), JoinError>) -> AgentError {
    let reason = ended.map_or_else(|error| error.to_string(), |()| "it ended by itself".into());
    AgentError::Part { part, reason }
}

/// Lets the control plane know that the broker is stopped, if it listens.
async fn say_farewell(mut reported: watch::Receiver<Option<View>>, board: &Board) {
    let last = Some(board.view());
    let _ = timeout(FAREWELL, reported.wait_for(|sent| *sent == last)).await;
}

struct Signals {
    terminate: Signal,
    upgrade: Signal,
}

impl Signals {
    fn new() -> io::Result<Self> {
        Ok(Self {
            terminate: signal(SignalKind::terminate())?,
            upgrade: signal(SignalKind::hangup())?,
        })
    }

    /// Returns when the agent is to end.
    async fn until_end(&mut self, place: &Place) {
        loop {
            tokio::select! {
                _ = self.terminate.recv() => return,
                _ = self.upgrade.recv() => upgrade(place),
            }
        }
    }
}

/// Becomes the newest release. All that matters is on disk, and the pid stays,
/// so the broker stays this process's child.
fn upgrade(place: &Place) {
    let dir = place.dir().to_string_lossy();
    let failed = match place.current_program().canonicalize() {
        Ok(program) => host::replace_self(&program, &["agent", "--dir", &dir]),
        Err(error) => error,
    };
    tracing::warn!(error = %failed, "the agent can't upgrade itself and goes on as it is");
}
