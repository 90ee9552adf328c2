//! Lines that begin with their time and level: Kafka's own log and the agent's.

use super::{LONGEST_LOGGER, Parsed, level, split, stamp};

pub const KAFKA_STAMP: &[u8] = b"0000-00-00T00:00:00.000Z ";
pub const AGENT_STAMP: &[u8] = b"0000-00-00T00:00:00.000";

/// `2026-11-05T10:23:20.123Z INFO message (logger)`, in UTC, with a stack trace on the lines
/// after. The message may have several lines; the logger is at the end of its last one.
pub fn parse_kafka(text: &[u8]) -> Option<Parsed<'_>> {
    let (at, rest) = stamp::take(text)?;
    let rest = rest.strip_prefix(b" ")?;
    let (word, message) = split(rest, b" ")?;
    let level = level(word)?;
    let (message, logger) = match logger(message) {
        Some((from, to)) => ([&message[..from], &message[to..]], &message[from + 2..to - 1]),
        None => ([message, &[][..]], &[][..]),
    };
    Some(Parsed { at: Some(at), level: Some(level), logger, message })
}

/// From the space before `(logger)` to its end: of the first line that ends with one. Words in
/// brackets at the end of an earlier line of a message have no point as loggers do.
fn logger(message: &[u8]) -> Option<(usize, usize)> {
    let mut start = 0;
    for line in message.split(|byte| *byte == b'\n') {
        let end = start + line.len();
        let is_all = line.len() == message.len();
        if let Some(opens) = opens_logger(line)
            && (is_all || line[opens..].contains(&b'.'))
        {
            return Some((start + opens, end));
        }
        start = end + 1;
    }
    None
}

fn opens_logger(line: &[u8]) -> Option<usize> {
    let inner = line.strip_suffix(b")")?;
    let near = inner.len().saturating_sub(LONGEST_LOGGER);
    let opens = near + inner[near..].iter().rposition(|byte| *byte == b'(')?;
    let name = &inner[opens + 1..];
    let is_name = name.first().is_some_and(u8::is_ascii_alphabetic)
        && name.iter().all(|byte| byte.is_ascii_alphanumeric() || b"._$-".contains(byte));
    let opens = opens.checked_sub(1)?;
    (is_name && line[opens] == b' ').then_some(opens)
}

/// `2026-11-05T10:23:20.123456Z  INFO agent::link: message name=value`.
pub fn parse_agent(text: &[u8]) -> Option<Parsed<'_>> {
    let (at, rest) = stamp::take(text)?;
    let (word, rest) = split(rest.trim_ascii_start(), b" ")?;
    let level = level(word)?;
    let near = &rest[..rest.len().min(LONGEST_LOGGER)];
    let is_name = |name: &&[u8]| {
        name.iter().all(|byte| byte.is_ascii_alphanumeric() || b"_:-".contains(byte))
    };
    let logger = split(near, b": ").map(|(name, _)| name).filter(is_name);
    let message = logger.map_or(rest, |name| &rest[name.len() + 2..]);
    let logger = logger.unwrap_or(&[]);
    Some(Parsed { at: Some(at), level: Some(level), logger, message: [message, &[]] })
}
