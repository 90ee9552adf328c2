//! Which lines begin an event, and which time, level and logger a line has.
//!
//! Works on bytes: a log may hold any. What can't be parsed is a message and nothing more.

mod dated;
mod jvm;
mod printed;
mod stamp;

use model::{LogLevel, Timestamp};

/// So many bytes of a line decide whether it begins an event.
pub const HEAD: usize = 32;
/// Longer names are no loggers.
const LONGEST_LOGGER: usize = 500;

/// How a log is written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Format {
    /// As `kafka/src/render/logging.rs` has log4j write, in every release.
    Kafka,
    /// As `tracing` writes lines.
    Agent,
    /// The JVM's `-Xlog`.
    Jvm,
    /// Lines without a format, which a JVM and its launcher print.
    Printed,
}

/// What is parsed from an event's text. The message may have its logger in its midst, so it is
/// in two parts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Parsed<'a> {
    pub at: Option<Timestamp>,
    pub level: Option<LogLevel>,
    pub logger: &'a [u8],
    pub message: [&'a [u8]; 2],
}

impl<'a> Parsed<'a> {
    fn plain(text: &'a [u8]) -> Self {
        Self { at: None, level: None, logger: &[], message: [text, &[]] }
    }
}

impl Format {
    /// Whether a line begins an event, by its first bytes. `open` is the event before it.
    pub fn begins(self, head: &[u8], open: &[u8]) -> bool {
        match self {
            Self::Kafka => stamp::looks_like(head, dated::KAFKA_STAMP),
            Self::Agent => stamp::looks_like(head, dated::AGENT_STAMP),
            Self::Jvm => head.first() == Some(&b'['),
            Self::Printed => printed::begins(head, open),
        }
    }

    /// Whether its events have a time.
    pub fn has_times(self) -> bool {
        self != Self::Printed
    }

    pub fn parse(self, text: &[u8]) -> Parsed<'_> {
        let parsed = match self {
            Self::Kafka => dated::parse_kafka(text),
            Self::Agent => dated::parse_agent(text),
            Self::Jvm => jvm::parse(text),
            Self::Printed => Some(printed::parse(text)),
        };
        parsed.unwrap_or(Parsed::plain(text))
    }
}

fn level(word: &[u8]) -> Option<LogLevel> {
    Some(match word {
        b"TRACE" => LogLevel::Trace,
        b"DEBUG" => LogLevel::Debug,
        b"INFO" => LogLevel::Info,
        b"WARN" => LogLevel::Warn,
        b"ERROR" => LogLevel::Error,
        b"FATAL" => LogLevel::Fatal,
        _ => return None,
    })
}

/// At the first place of a text within another.
fn split<'a>(text: &'a [u8], at: &[u8]) -> Option<(&'a [u8], &'a [u8])> {
    let found = text.windows(at.len()).position(|bytes| bytes == at)?;
    Some((&text[..found], &text[found + at.len()..]))
}

#[cfg(test)]
mod tests;
