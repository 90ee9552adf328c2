//! What a cluster says to Kafka's own admin client, in a JVM for the one question.

use crate::access::{java_settings, write_properties};
use crate::{Access, jar};
use model::KafkaVersion;
use std::io;
use std::time::Duration;
use tokio::time::timeout;

const MAIN: &str = "castellan.check.Ask";
const PATIENCE: Duration = Duration::from_mins(5);

#[derive(Debug, thiserror::Error)]
pub enum AskError {
    #[error("Kafka's admin client can't start: {0}")]
    Start(String),
    #[error("Kafka's admin client failed: {0}")]
    Failed(String),
    #[error("Kafka's admin client has no answer after {} s", PATIENCE.as_secs())]
    Late,
}

impl From<io::Error> for AskError {
    fn from(error: io::Error) -> Self {
        AskError::Start(error.to_string())
    }
}

/// What Kafka's own admin client is asked.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Question<'a> {
    /// Every client quota, a line each: `{client-id=reports, user=ada}
    /// {producer_byte_rate=1024.0}`, by whom it is for.
    Quotas,
    /// Makes topics `<prefix>0`, `<prefix>1` …, some of them at the same time. The line
    /// is how many milliseconds that took.
    CreateTopics { prefix: &'a str, count: u32, at_once: u32, replicas: i16 },
    /// Has groups `<prefix>0`, `<prefix>1` … commit the begin of a topic's first
    /// partition. No line.
    CommitOffsets { prefix: &'a str, count: u32, at_once: u32, topic: &'a str },
}

impl Question<'_> {
    fn words(&self) -> Vec<String> {
        match self {
            Question::Quotas => vec!["quotas".into()],
            Question::CreateTopics { prefix, count, at_once, replicas } => {
                let numbers = [count.to_string(), at_once.to_string(), replicas.to_string()];
                ["create-topics", prefix].map(String::from).into_iter().chain(numbers).collect()
            }
            Question::CommitOffsets { prefix, count, at_once, topic } => {
                let numbers = [count.to_string(), at_once.to_string(), (*topic).to_owned()];
                ["commit-offsets", prefix].map(String::from).into_iter().chain(numbers).collect()
            }
        }
    }
}

/// The lines of the answer, by the library of a release or of the newest.
pub async fn ask_admin_client(
    access: &Access,
    release: Option<KafkaVersion>,
    question: &Question<'_>,
) -> Result<Vec<String>, AskError> {
    let directory = tempfile::tempdir()?;
    let settings = directory.path().join("ask.properties");
    host::write_private(&settings, write_properties(&java_settings(access)).as_bytes())?;
    let mut arguments = vec![settings.to_string_lossy().into_owned()];
    arguments.extend(question.words());
    let line = jar::command_line(release, directory.path(), MAIN, &arguments).await;
    let (program, line) = line.map_err(AskError::Start)?;
    let line: Vec<&str> = line.iter().map(String::as_str).collect();
    let running = host::run_output(&program, &line, Some(directory.path()));
    let ran = timeout(PATIENCE, running).await.map_err(|_| AskError::Late)??;
    if !ran.status.success() {
        return Err(AskError::Failed(String::from_utf8_lossy(&ran.stderr).trim().to_owned()));
    }
    Ok(String::from_utf8_lossy(&ran.stdout).lines().map(str::to_owned).collect())
}
