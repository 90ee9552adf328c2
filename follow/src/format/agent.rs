//! The agent's own log: `2026-11-05T10:23:20.123456Z  INFO agent::link: message name=value`.

use super::{LONGEST_LOGGER, Parsed, level, split, stamp};

pub const STAMP: &[u8] = b"0000-00-00T00:00:00.000";

pub fn parse(text: &[u8]) -> Option<Parsed<'_>> {
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
