//! What a server's logs say, event by event.

use crate::{Timestamp, words};
use serde::{Deserialize, Serialize};

words! {
    #[derive(Hash, PartialOrd, Ord, Serialize, Deserialize)]
    #[serde(rename_all = "lowercase")]
    pub enum LogLevel {
        Trace = "trace",
        Debug = "debug",
        Info = "info",
        Warn = "warn",
        Error = "error",
        Fatal = "fatal",
    }
}

words! {
    /// Who wrote it.
    #[derive(Hash, PartialOrd, Ord, Serialize, Deserialize)]
    #[serde(rename_all = "kebab-case")]
    pub enum LogSource {
        /// Kafka's own log.
        Broker = "broker",
        /// What the JVM printed: how it ended, as a rule.
        Output = "output",
        /// The JVM's log of its garbage collector, where there is one.
        GarbageCollector = "garbage-collector",
        /// Castellan's agent on the server.
        Agent = "agent",
    }
}

/// A line of a log with what belongs to it, such as a stack trace.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct LogEvent {
    pub at: Timestamp,
    pub level: LogLevel,
    pub source: LogSource,
    /// Empty where the log names none.
    pub logger: String,
    /// Without a line feed at its end; a stack trace has some within.
    pub message: String,
}
