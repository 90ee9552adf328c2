//! One broker process: started by us, or found running.
//!
//! It is on record before anything else happens, and a live one is always
//! adopted: there are never two on one disk. Nothing here kills it by itself.

use crate::launcher::Launch;
use crate::log_tail::Marks;
use crate::place::{Place, remove_file};
use crate::successor::{self, Ended, Successor};
use host::{Exit, ProcessId, Spawn};
use std::fs;
use std::io;
use std::time::Duration;
use tokio::time::Instant;
use wire::agent::Loading;

/// In the broker's environment, with the server's directory: it finds a broker
/// whose agent died before it could put it on record.
const BROKER_VARIABLE: &str = "CASTELLAN_BROKER";

/// Between looks at how far a start has come.
const LOOK_AT_LOGS: Duration = Duration::from_secs(1);

pub struct Broker {
    process: ProcessId,
    ended: Ended,
    began: Instant,
    marks: Marks,
    config_hash: Option<String>,
    launch: i64,
    loading: Option<Loading>,
    look_at_logs: Instant,
}

/// What a broker is started for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct For<'a> {
    pub config_hash: &'a str,
    pub launch: i64,
}

impl Broker {
    /// The broker that runs here, if there is one.
    pub fn adopt(place: &Place) -> Option<Self> {
        let recorded = ProcessId::load(&place.broker_pid());
        let process = match recorded.filter(|process| !process.has_ended()) {
            Some(process) => process,
            None => find_unrecorded(place)?,
        };
        let watch = process.watch()?;
        successor::restore_priority(process.clone());
        let ending = process.clone();
        let ended = async move {
            watch.ended().await;
            ending.reap();
            Exit("it was started by an earlier agent, so its exit status is unknown".into())
        };
        Some(Self {
            process,
            ended: Box::pin(ended),
            began: Instant::now(),
            marks: Marks::now(place),
            config_hash: fs::read_to_string(place.running_hash()).ok(),
            launch: recorded_launch(place),
            loading: None,
            look_at_logs: Instant::now(),
        })
    }

    /// Starts one and puts it on record. After an error none runs.
    pub async fn start(place: &Place, command: Launch, wanted: For<'_>) -> io::Result<Self> {
        record(place, wanted)?;
        // What an earlier JVM said of itself must not be taken for a word of this one, whose
        // pid may be the same.
        remove_file(&place.warm_state())?;
        let marks = Marks::now(place);
        let mark = (BROKER_VARIABLE.to_owned(), place.dir().to_string_lossy().into_owned());
        let spawn = Spawn {
            program: command.program,
            arguments: command.arguments,
            environment: vec![mark],
            directory: place.dir().into(),
            output: place.broker_output(),
        };
        let (process, ended) = spawn.start()?;
        if let Err(error) = process.save(&place.broker_pid()) {
            process.kill();
            ended.await;
            return Err(error);
        }
        Ok(Self::new(process, Box::pin(ended), marks, wanted))
    }

    /// Makes a JVM that was warmed up the broker. It is on record before it is ordered, so
    /// if the agent dies in between, the next one adopts the broker, or finds none. After an
    /// error none runs. The broker before it must have ended.
    pub async fn take_over(
        place: &Place,
        successor: Successor,
        wanted: For<'_>,
        patience: Duration,
    ) -> io::Result<Self> {
        let Some(process) = successor.process() else {
            return Err(io::Error::other("it has ended"));
        };
        record(place, wanted)?;
        successor::keep_output(place)?;
        let marks = Marks::now(place);
        process.save(&place.broker_pid())?;
        let (process, ended) = successor.order(place, patience).await?;
        Ok(Self::new(process, ended, marks, wanted))
    }

    fn new(process: ProcessId, ended: Ended, marks: Marks, wanted: For<'_>) -> Self {
        Self {
            process,
            ended,
            began: Instant::now(),
            marks,
            config_hash: Some(wanted.config_hash.into()),
            launch: wanted.launch,
            loading: None,
            look_at_logs: Instant::now() + LOOK_AT_LOGS,
        }
    }

    pub fn pid(&self) -> i32 {
        self.process.pid
    }

    pub fn began(&self) -> Instant {
        self.began
    }

    pub fn config_hash(&self) -> Option<String> {
        self.config_hash.clone()
    }

    /// The launch that it was started for.
    pub fn launch(&self) -> i64 {
        self.launch
    }

    /// How far a start has come with the logs on its disk. Looked at now and
    /// then: most starts are over before that.
    pub fn loading(&mut self, place: &Place) -> Option<Loading> {
        if Instant::now() >= self.look_at_logs {
            self.loading = self.marks.loading(place);
            self.look_at_logs = Instant::now() + LOOK_AT_LOGS;
        }
        self.loading
    }

    /// Whether this very process has said that it started.
    pub fn has_started(&self, place: &Place) -> bool {
        let said = fs::read_to_string(place.started()).unwrap_or_default();
        said.trim().parse() == Ok(self.process.pid)
    }

    /// Returns once the process has ended. Not to be asked again after that.
    pub async fn ended(&mut self) -> Exit {
        self.ended.as_mut().await
    }

    /// SIGTERM: Kafka's controlled shutdown.
    pub fn terminate(&self) {
        self.process.terminate();
    }

    /// Whether a signal has stopped it, so that no other but SIGKILL reaches it.
    pub fn is_paused(&self) -> bool {
        self.process.is_stopped()
    }

    /// SIGKILL.
    pub fn kill(&self) {
        self.process.kill();
    }

    pub fn log_tail(&self, place: &Place) -> Vec<String> {
        self.marks.tail(place)
    }

    /// Whether it has begun to load the logs on its disk, for which Kafka needs a
    /// quorum. Of many logs the first lines may be out of sight by the end.
    pub fn came_to_logs(&self, place: &Place) -> bool {
        self.loading.is_some() || self.marks.came_to_logs(place)
    }

    pub fn found_no_quorum(&self, place: &Place) -> bool {
        self.marks.found_no_quorum(place)
    }
}

/// Agents of the release before put no launch on record.
fn recorded_launch(place: &Place) -> i64 {
    let text = fs::read_to_string(place.running_launch()).unwrap_or_default();
    text.trim().parse().unwrap_or(0)
}

fn find_unrecorded(place: &Place) -> Option<ProcessId> {
    // One that was warmed up has no such mark, and was on record before it was the broker.
    let found = host::with_environment(BROKER_VARIABLE, &place.dir().to_string_lossy());
    let process = found.into_iter().next()?;
    // Without a record it still runs, and the next agent looks the same way.
    if let Err(error) = process.save(&place.broker_pid()) {
        tracing::warn!(%error, "the broker that runs can't be put on record");
    }
    Some(process)
}

/// Removes what an earlier broker left, and notes what the next one is started for.
fn record(place: &Place, wanted: For<'_>) -> io::Result<()> {
    remove_file(&place.started())?;
    host::write_atomic(&place.running_hash(), wanted.config_hash.as_bytes())?;
    host::write_atomic(&place.running_launch(), wanted.launch.to_string().as_bytes())
}
