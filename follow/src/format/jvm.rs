//! The JVM's unified logging: `[2026-11-05T10:23:20.123+0000][info][gc,start] GC(3) Pause …`.
//! Which decorations a line has depends on the options: time, time since the start, level and
//! tags are known by how they look.

use super::{LONGEST_LOGGER, Parsed, stamp};
use model::LogLevel;

pub fn parse(text: &[u8]) -> Option<Parsed<'_>> {
    let mut parsed = Parsed::plain(text);
    let mut rest = text;
    while let Some(inner) = rest.strip_prefix(b"[") {
        let Some(end) = inner.iter().take(LONGEST_LOGGER).position(|byte| *byte == b']') else {
            break;
        };
        let word = inner[..end].trim_ascii();
        if let Some((at, _)) = stamp::take(word) {
            parsed.at = Some(at);
        } else if let Some(level) = level(word) {
            parsed.level = Some(level);
        } else if word.first().is_some_and(u8::is_ascii_alphabetic) {
            parsed.logger = word;
        }
        rest = &inner[end + 1..];
    }
    parsed.message[0] = rest.strip_prefix(b" ").unwrap_or(rest);
    (parsed.at.is_some() || parsed.level.is_some()).then_some(parsed)
}

fn level(word: &[u8]) -> Option<LogLevel> {
    Some(match word {
        b"trace" => LogLevel::Trace,
        b"debug" => LogLevel::Debug,
        b"info" => LogLevel::Info,
        b"warning" => LogLevel::Warn,
        b"error" => LogLevel::Error,
        _ => return None,
    })
}
