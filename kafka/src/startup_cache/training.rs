//! Starts a broker once, as in production, has it do what a new cluster does
//! first, and ends it, so that the JVM writes down what it loaded.

use super::{StartupCache, StartupCacheError, exercise};
use crate::artifacts::Distribution;
use crate::java::Java;
use crate::launch::{self, STARTED_FILE};
use crate::throwaway;
use crate::versions;
use futures::FutureExt as _;
use futures::future::BoxFuture;
use host::{Exit, ProcessId, Spawn};
use std::fs;
use std::io;
use std::path::Path;
use std::time::Duration;

/// Gives a heap with the G1 collector, which is never filled here: a cache made with G1
/// serves the serial collector too.
const MEMORY_MB: u32 = 4096;
/// Generous: a small machine may be busy with other things.
const DEADLINE: Duration = Duration::from_mins(4);
const POLL: Duration = Duration::from_millis(50);
const OUTPUT: &str = "output";

/// Runs the broker with the recording flags until it has started, stops it, and
/// sees that the file was made.
pub async fn run(
    distribution: &Distribution,
    java: &Java,
    recording: &StartupCache,
    directory: &Path,
    made: &Path,
    uid: Option<u32>,
) -> Result<(), StartupCacheError> {
    let io = StartupCacheError::io(directory);
    let Some(release) = versions::release(distribution.version) else {
        return Err(failed("is of an unsupported release", directory));
    };
    let spec = throwaway::spec(release, "training", MEMORY_MB).map_err(&io)?;
    let training = throwaway::fill(directory, spec).map_err(&io)?;
    let rendered = &training.rendered;
    let (program, mut arguments) = launch::command_line(
        distribution,
        java,
        Some(recording),
        &rendered.jvm_flags,
        &rendered.logging_file,
    );
    // However we end, the broker must not outlive us.
    arguments.insert(0, format!("-Dcastellan.trainer={}", std::process::id()));
    let spawn = Spawn {
        program,
        arguments,
        environment: vec![],
        directory: directory.into(),
        output: directory.join(OUTPUT),
    };
    let (process, ended) = start(&spawn, uid).map_err(&io)?;
    let guard = KillOnDrop(process);
    let started = directory.join(STARTED_FILE);
    tokio::pin!(ended);
    tokio::select! {
        () = exists(&started) => {}
        _ = &mut ended => return Err(failed("ended before it had started", directory)),
        () = tokio::time::sleep(DEADLINE) => return Err(failed("did not start in time", directory)),
    }
    // A cache without this is a cache all the same.
    if let Err(error) = exercise::run(&training).await {
        tracing::warn!(%error, "the training broker did not do all that it was asked");
    }
    guard.0.terminate();
    if tokio::time::timeout(DEADLINE, ended).await.is_err() {
        return Err(failed("did not end in time", directory));
    }
    if made.exists() {
        return Ok(());
    }
    Err(StartupCacheError::NotWritten(java.version.clone(), tail(directory)))
}

/// As a user of its own where there is one: it listens on this machine, and nobody who
/// reaches it shall reach more.
fn start(spawn: &Spawn, uid: Option<u32>) -> io::Result<(ProcessId, BoxFuture<'static, Exit>)> {
    let Some(uid) = uid else {
        let (process, ended) = spawn.start()?;
        return Ok((process, ended.boxed()));
    };
    host::give_away(&spawn.directory, uid, &[])?;
    let (process, ended) = spawn.start_as(uid)?;
    Ok((process, ended.boxed()))
}

/// A training broker must not outlive its training, however that ends.
struct KillOnDrop(ProcessId);

impl Drop for KillOnDrop {
    fn drop(&mut self) {
        self.0.kill();
    }
}

async fn exists(path: &Path) {
    while !path.exists() {
        tokio::time::sleep(POLL).await;
    }
}

fn failed(what: &'static str, directory: &Path) -> StartupCacheError {
    StartupCacheError::Training { what, output: tail(directory) }
}

/// The last line the JVM printed.
fn tail(directory: &Path) -> String {
    let text = fs::read_to_string(directory.join(OUTPUT)).unwrap_or_default();
    text.lines().last().unwrap_or("it printed nothing").to_owned()
}
