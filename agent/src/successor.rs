//! A JVM that is warmed up to be a server's next broker: by its agent while the broker at
//! hand still runs, or by the pool of the host (`pool.rs`) for a server that has none.
//!
//! It is no broker before its order, and its order comes after it is on record as one
//! (`broker.rs`), so the disk has one owner at every moment. It listens to this process
//! alone and ends with it. It is never a reason for a broker to stay down: one that does not
//! get ready, dies or does not take its order is ended, and the broker is started cold.

use crate::launcher::Launch;
use crate::place::{Place, remove_file};
use host::{Exit, Input, ProcessId, Spawn};
use kafka::rehearsal;
use std::fs;
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::time::Duration;
use tokio::time::{Instant, sleep};

/// In its environment, with the directory that it was warmed up in. It is not the broker's
/// variable: an agent takes a process with that for its broker. It stays when the process
/// has become one, which is on record.
pub(crate) const SUCCESSOR_VARIABLE: &str = "CASTELLAN_SUCCESSOR";

/// Bytes of its output that are looked at for the reason of its end.
const LAST_PRINTED: u64 = 4096;
const GLANCE: Duration = Duration::from_millis(10);
/// For how many glances the kernel may be busy with other changes of priority.
const PRIORITY_TRIES: u32 = 500;

/// How a process ends.
pub type Ended = Pin<Box<dyn Future<Output = Exit> + Send>>;

/// Where one has its files while it is warmed up.
#[derive(Clone, Debug)]
pub struct Home {
    pub directory: PathBuf,
    /// How far it is, with its pid.
    pub state: PathBuf,
    pub output: PathBuf,
    /// The throw-away server that it is warmed up with.
    pub rehearsal: PathBuf,
}

/// Ended when it is dropped.
pub struct Successor {
    home: Home,
    /// What a cold start would run. It can stand for that and nothing else.
    launch: Launch,
    alive: Option<Alive>,
}

struct Alive {
    process: ProcessId,
    ended: Ended,
    input: Input,
}

impl Successor {
    /// Starts one that rehearses with the command `warm`, at low priority, as that user if
    /// one is given.
    pub fn start(home: Home, launch: Launch, warm: Launch, uid: Option<u32>) -> io::Result<Self> {
        remove_file(&home.state)?;
        remove_file(&home.output)?;
        let mark = (SUCCESSOR_VARIABLE.to_owned(), home.directory.to_string_lossy().into_owned());
        let spawn = Spawn {
            program: warm.program,
            arguments: warm.arguments,
            environment: vec![mark],
            directory: home.directory.clone(),
            output: home.output.clone(),
        };
        let (process, input, ended) = spawn.start_listening(uid)?;
        if let Err(error) = process.lower_priority() {
            tracing::debug!(%error, "a JVM is warmed up at the usual priority");
        }
        let alive = Some(Alive { process, ended: Box::pin(ended), input });
        Ok(Self { home, launch, alive })
    }

    /// One that was warmed up elsewhere, printed to that file, and is ready. It gets the
    /// server's own files.
    pub fn received(
        place: &Place,
        launch: Launch,
        process: ProcessId,
        input: Input,
        printed: &Path,
    ) -> io::Result<Self> {
        let home = place.warm_home();
        fs::rename(printed, &home.output)?;
        // Until it says otherwise it waits, also for an agent after this one.
        let state = format!("{} {}\n", process.pid, rehearsal::READY);
        host::write_atomic(&home.state, state.as_bytes())?;
        let watch = process.watch().ok_or_else(|| io::Error::other("it has ended"))?;
        let ended = async move {
            watch.ended().await;
            Exit("the control plane had started it, so its exit status is unknown".into())
        };
        let alive = Some(Alive { process, ended: Box::pin(ended), input });
        Ok(Self { home, launch, alive })
    }

    /// Gives up the process and its input. It then ends with the last process that has its
    /// input.
    pub fn release(mut self) -> Option<(ProcessId, Input, Ended)> {
        self.alive.take().map(|Alive { process, ended, input }| (process, input, ended))
    }

    /// Whether it is what a start with this command would be.
    pub fn is_for(&self, launch: &Launch) -> bool {
        self.launch == *launch
    }

    pub fn process(&self) -> Option<&ProcessId> {
        self.alive.as_ref().map(|alive| &alive.process)
    }

    /// Returns once it waits for its order; or why it never will. Each word that it says of
    /// its state may take so long.
    pub async fn ready(&mut self, patience: Duration) -> Result<(), String> {
        let (mut last, mut since) = (String::new(), Instant::now());
        loop {
            let Some(alive) = &mut self.alive else { return Err("it has ended".into()) };
            tokio::select! {
                biased;
                exit = &mut alive.ended => {
                    let process = alive.process.clone();
                    self.alive = None;
                    return Err(words_of_end(&self.home.state, &process, &exit, &self.home.output));
                }
                () = sleep(GLANCE) => {}
            }
            let said = said(&self.home.state, &alive.process).unwrap_or_default();
            match said.split_once(' ').unwrap_or((&said, "")) {
                (rehearsal::READY, _) => return Ok(()),
                (rehearsal::FAILED, reason) => return Err(reason.to_owned()),
                _ if said != last => (last, since) = (said, Instant::now()),
                _ if since.elapsed() >= patience => return Err(words_of_standstill(&last)),
                _ => {}
            }
        }
    }

    /// Returns once its process has ended.
    pub async fn ended(&mut self) {
        if let Some(alive) = &mut self.alive {
            (&mut alive.ended).await;
            self.alive = None;
        }
    }

    /// Makes it the broker of the server. It has to be on record as that, because from here
    /// on it does not end with us. If it does not take the order in time, it has ended.
    pub async fn order(
        mut self,
        place: &Place,
        patience: Duration,
    ) -> io::Result<(ProcessId, Ended)> {
        let Some(alive) = self.alive.take() else { return Err(io::Error::other("it has ended")) };
        let Alive { process, mut ended, mut input } = alive;
        restore_priority(process.clone());
        let state = &place.warm_state();
        let taken = async {
            input.say(&rehearsal::order(place.dir())).await?;
            drop(input);
            while said(state, &process).as_deref() != Some(rehearsal::TAKEN) {
                sleep(GLANCE).await;
            }
            Ok::<(), io::Error>(())
        };
        let failure = tokio::select! {
            exit = &mut ended => {
                let words = words_of_end(state, &process, &exit, &place.broker_output());
                return Err(io::Error::other(words));
            }
            taken = taken => match taken {
                Ok(()) => return Ok((process, ended)),
                Err(error) => error,
            },
            () = sleep(patience) => io::Error::other("it did not take its order"),
        };
        process.kill();
        ended.await;
        Err(failure)
    }
}

impl Drop for Successor {
    fn drop(&mut self) {
        if let Some(alive) = &self.alive {
            alive.process.kill();
            let _ = host::remove_tree(&self.home.rehearsal);
        }
    }
}

/// Why it ended, as far as it said so, in its state or in what it printed there.
fn words_of_end(state: &Path, process: &ProcessId, exit: &Exit, output: &Path) -> String {
    // It may have said so since it was last looked at.
    let state = said(state, process).unwrap_or_default();
    if let Some((rehearsal::FAILED, reason)) = state.split_once(' ') {
        return reason.to_owned();
    }
    let printed = last_printed(output).unwrap_or_default();
    match printed.lines().rfind(|line| !line.trim().is_empty()) {
        Some(last) => format!("it ended: {}, after it said: {last}", exit.0),
        None => format!("it ended: {}", exit.0),
    }
}

/// The end of what it printed. Its user may have put anything in the place of that file.
fn last_printed(output: &Path) -> Option<String> {
    let name = Path::new(output.file_name()?);
    let mut file = host::open_beneath(output.parent()?, name).ok()?;
    let length = file.metadata().ok()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(LAST_PRINTED))).ok()?;
    let mut printed = Vec::new();
    file.take(LAST_PRINTED).read_to_end(&mut printed).ok()?;
    Some(String::from_utf8_lossy(&printed).into_owned())
}

fn words_of_standstill(last: &str) -> String {
    match last {
        "" => "it makes no progress, and says nothing".to_owned(),
        last => format!("it makes no progress, {last}"),
    }
}

/// Puts what it printed in the place of what the broker before it printed, and that aside:
/// it goes on printing there. The broker before it must have ended.
pub fn keep_output(place: &Place) -> io::Result<()> {
    let (output, earlier) = (place.broker_output(), place.earlier_broker_output());
    if output.metadata().is_ok_and(|found| found.len() > 0) {
        fs::rename(&output, earlier)?;
    }
    fs::rename(place.successor_output(), output)
}

/// Ends what an agent before this one warmed up, and returns once it has ended. A process
/// that is on record as the broker and was not ordered is one of them: it would end by
/// itself. To be called before a broker is looked for, and by an agent that has its lock.
pub fn end_leftovers(place: &Place) {
    let recorded = ProcessId::load(&place.broker_pid());
    let waits = |process: &ProcessId| {
        said(&place.warm_state(), process).as_deref() == Some(rehearsal::READY)
    };
    // What a broker starts inherits its environment.
    let is_of_broker = |process: &ProcessId| {
        let of = |broker: &ProcessId| broker == process || broker.children().contains(process);
        recorded.as_ref().is_some_and(of)
    };
    let mut found = host::with_environment(SUCCESSOR_VARIABLE, &place.dir().to_string_lossy());
    found.retain(|process| !is_of_broker(process) || waits(process));
    // One of the pool has the mark of its own directory there.
    let is_marked = |process: &ProcessId| {
        host::with_variable(SUCCESSOR_VARIABLE).iter().any(|(_, marked)| marked == process)
    };
    let broker = recorded.clone().filter(|broker| broker.is_alive() && waits(broker));
    found.extend(broker.filter(is_marked));
    for process in found {
        tracing::info!(pid = process.pid, "a JVM that was warmed up for an earlier agent is ended");
        process.kill_for_good();
        process.reap();
    }
    let _ = fs::remove_dir_all(place.rehearsal());
}

/// What this very process said last of its state. Its user may have put anything there.
fn said(state: &Path, process: &ProcessId) -> Option<String> {
    let name = Path::new(state.file_name()?);
    let text = String::from_utf8(host::read_beneath(state.parent()?, name).ok()?).ok()?;
    let (pid, state) = text.trim_end().split_once(' ')?;
    (pid.parse() == Ok(process.pid)).then(|| state.to_owned())
}

/// In the background. An agent that dies meanwhile leaves that to the next.
pub fn restore_priority(process: ProcessId) {
    tokio::spawn(async move {
        for _ in 0..PRIORITY_TRIES {
            match process.restore_priority() {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => sleep(GLANCE).await,
                Err(error) => return tracing::debug!(%error, "the priority stays as it is"),
                Ok(()) => return,
            }
        }
        tracing::warn!(pid = process.pid, "the broker still runs at low priority");
    });
}
