//! The Java client: a small program of ours on Kafka's own client library, one
//! JVM for all clients of that kind.
//!
//! It is told what to do by a file that only the owner reads, and when by lines
//! on its input; the end of its input is its end.

use super::{Job, LoadError, lines};
use crate::access::{java_settings, write_properties};
use crate::{Kind, Mode, jar};
use host::Piped;
use model::KafkaVersion;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tempfile::TempDir;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio::time::timeout;

const MAIN: &str = "castellan.check.Main";
/// For a JVM on a busy machine to start and to greet the cluster.
const HELLO: Duration = Duration::from_mins(1);
/// On top of a delivery's own time.
const GRACE: Duration = Duration::from_secs(30);

pub struct Jvm {
    /// What it shall be told.
    say: mpsc::Sender<&'static str>,
    /// Ends with the JVM.
    conversation: JoinHandle<Result<(), String>>,
    /// Its jar, its settings and what it complains of.
    directory: TempDir,
}

impl Jvm {
    /// None if no client is a Java one. On return its clients are ready.
    pub async fn start(
        job: &Job,
        release: Option<KafkaVersion>,
    ) -> Result<Option<Self>, LoadError> {
        if job.run.clients.iter().all(|client| client.kind != Kind::Java) {
            return Ok(None);
        }
        let directory = tempfile::tempdir().map_err(java_error)?;
        let errors = directory.path().join("errors");
        let (program, arguments) = command_line(job, release, directory.path()).await?;
        let mut piped = Piped::start(&program, &arguments, &errors).map_err(java_error)?;
        match timeout(HELLO, piped.hear()).await {
            Ok(Ok(Some(line))) if line == "ready" => {}
            Ok(Ok(Some(line))) => return Err(LoadError::Java(line)),
            _ => return Err(LoadError::Java(format!("it does not get ready; {}", tail(&errors)))),
        }
        let (say, said) = mpsc::channel(2);
        let conversation = tokio::spawn(converse(job.clone(), piped, said));
        Ok(Some(Self { say, conversation, directory }))
    }

    pub async fn go(&self) -> Result<(), LoadError> {
        self.say.send("go").await.map_err(java_error)
    }

    /// Lets it deliver what it has, and waits for its end. Whether it went on until now
    /// and ended in an orderly way.
    pub async fn stop(self, job: &Job) -> bool {
        let is_early = self.conversation.is_finished();
        let _ = self.say.send("stop").await;
        let conversation = self.conversation.abort_handle();
        let ended = timeout(job.delivery_timeout + GRACE, self.conversation).await;
        let error = match ended {
            Ok(Ok(Ok(()))) if is_early => "it ended by itself".to_owned(),
            Ok(Ok(Ok(()))) => return true,
            Ok(Ok(Err(error))) => error,
            Ok(Err(error)) => error.to_string(),
            Err(_) => {
                // The JVM goes with it.
                conversation.abort();
                "it does not end".to_owned()
            }
        };
        let errors = tail(&self.directory.path().join("errors"));
        job.trouble("the Java client", &format!("{error}; {errors}"));
        false
    }
}

#[expect(clippy::needless_pass_by_value, reason = "it is what map_err hands over")]
fn java_error(error: impl ToString) -> LoadError {
    LoadError::Java(error.to_string())
}

/// Says what is to be said and records what is heard, until the JVM ends.
async fn converse(
    job: Job,
    mut piped: Piped,
    mut said: mpsc::Receiver<&'static str>,
) -> Result<(), String> {
    let in_words = |error: io::Error| error.to_string();
    loop {
        tokio::select! {
            line = said.recv() => match line {
                Some(line) => piped.say(line).await.map_err(in_words)?,
                // The load is gone, and with it whoever reads the history.
                None => return Ok(()),
            },
            line = piped.hear() => match line.map_err(in_words)? {
                Some(line) => match lines::parse(&line) {
                    Some(event) => job.recorder.record(event),
                    None => return Err(format!("it said {line:?}")),
                },
                None => break,
            },
        }
    }
    let status = piped.end().await.map_err(in_words)?;
    if status.success() { Ok(()) } else { Err(status.to_string()) }
}

async fn command_line(
    job: &Job,
    release: Option<KafkaVersion>,
    directory: &Path,
) -> Result<(PathBuf, Vec<String>), LoadError> {
    let settings = directory.join("check.properties");
    host::write_private(&settings, settings_text(job).as_bytes()).map_err(java_error)?;
    let arguments = [settings.to_string_lossy().into_owned()];
    jar::command_line(release, directory, MAIN, &arguments).await.map_err(LoadError::Java)
}

/// The client's own settings, and ours under `check.`.
fn settings_text(job: &Job) -> String {
    let clients = job.run.clients.iter().enumerate();
    let clients = clients.filter(|(_, client)| client.kind == Kind::Java).map(
        |(number, client)| match client.mode {
            Mode::Idempotent => format!("{number}:idempotent"),
            Mode::Transactional => format!("{number}:transactional"),
        },
    );
    let mut settings = java_settings(&job.access);
    settings.extend([
        ("check.run", job.run.id.clone()),
        ("check.topic", job.run.topic.clone()),
        ("check.partitions", job.run.partitions.to_string()),
        ("check.clients", clients.collect::<Vec<_>>().join(",")),
        ("check.rate", job.rate.to_string()),
        ("check.bytes", job.bytes.to_string()),
        ("check.timeout.ms", job.delivery_timeout.as_millis().to_string()),
    ]);
    write_properties(&settings)
}

/// The end of what it complained of.
fn tail(errors: &Path) -> String {
    let text = fs::read_to_string(errors).unwrap_or_default();
    let text = text.trim();
    match text[text.floor_char_boundary(text.len().saturating_sub(1000))..].to_owned() {
        nothing if nothing.is_empty() => "it gave no reason".to_owned(),
        text => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history::{Recording, Zero};
    use crate::{Access, Auth, Client, Event, History, Run};
    use std::sync::Arc;

    fn job() -> (Job, Recording) {
        let run = Run {
            id: "r1".into(),
            topic: "t".into(),
            partitions: 1,
            clients: vec![Client::ALL[2]],
            group: false,
            began: "2026-11-15T07:00:30Z".parse().unwrap(),
        };
        let (recorder, recording) = Recording::start(run.clone(), None).unwrap();
        let job = Job {
            access: Access { brokers: vec![], auth: Auth::Plaintext },
            run,
            rate: 1.0,
            bytes: 100,
            delivery_timeout: Duration::ZERO,
            recorder,
            zero: Zero::default(),
            stop: Arc::default(),
        };
        (job, recording)
    }

    /// Whether it ended in an orderly way, and what the history has of it.
    async fn stop(
        say: mpsc::Sender<&'static str>,
        conversation: JoinHandle<Result<(), String>>,
    ) -> (bool, History) {
        let (job, recording) = job();
        let jvm = Jvm { say, conversation, directory: tempfile::tempdir().unwrap() };
        let is_orderly = jvm.stop(&job).await;
        drop(job);
        (is_orderly, recording.finish().unwrap())
    }

    #[tokio::test]
    async fn one_that_ends_when_it_is_told_ends_in_an_orderly_way() {
        let (say, mut said) = mpsc::channel(2);
        let conversation = tokio::spawn(async move {
            assert_eq!(said.recv().await, Some("stop"));
            Ok(())
        });
        let (is_orderly, history) = stop(say, conversation).await;
        assert!(is_orderly && history.events.is_empty(), "{history:?}");
    }

    #[tokio::test]
    async fn one_that_ended_by_itself_does_not() {
        for ended in [Ok(()), Err("signal: 9".to_owned())] {
            let (say, _) = mpsc::channel(2);
            let conversation = tokio::spawn(async move { ended });
            while !conversation.is_finished() {
                tokio::task::yield_now().await;
            }
            let (is_orderly, history) = stop(say, conversation).await;
            assert!(!is_orderly);
            assert!(matches!(history.events[..], [Event::Trouble { .. }]), "{history:?}");
        }
    }
}
