//! What a JVM and its launcher print, as a rule when they end. It has no pattern and no time:
//! every line is an event of its own but those that belong to a stack trace or to the report
//! of a crash.

use super::{Parsed, jvm, split};
use model::LogLevel;

/// So much of an event tells how bad it is.
const TELLS: usize = 1024;

/// The first that is found says the level.
const SIGNS: [(&[u8], LogLevel); 12] = [
    (b"A fatal error has been detected", LogLevel::Fatal),
    (b"Terminating due to java.lang.OutOfMemoryError", LogLevel::Fatal),
    (b"OutOfMemoryError", LogLevel::Fatal),
    (b" FATAL ", LogLevel::Fatal),
    (b"Exception", LogLevel::Error),
    (b" ERROR ", LogLevel::Error),
    (b"Error:", LogLevel::Error),
    (b"Error occurred", LogLevel::Error),
    (b"can't be started", LogLevel::Error),
    (b"warning:", LogLevel::Warn),
    (b"WARNING:", LogLevel::Warn),
    (b" WARN ", LogLevel::Warn),
];

/// Beginnings of lines that go on with a stack trace.
const GOES_ON: [&[u8]; 2] = [b"Caused by: ", b"Suppressed: "];

pub fn begins(head: &[u8], open: &[u8]) -> bool {
    let goes_on = match head.first() {
        None | Some(b' ' | b'\t') => true,
        // The report of a crash, each line of which has that sign.
        Some(b'#') => open.first() == Some(&b'#'),
        Some(_) => GOES_ON.iter().any(|begin| head.starts_with(begin)),
    };
    !goes_on
}

pub fn parse(text: &[u8]) -> Parsed<'_> {
    if let Some(parsed) = text.starts_with(b"[").then(|| jvm::parse(text)).flatten() {
        return parsed;
    }
    let near = &text[..text.len().min(TELLS)];
    let found = SIGNS.iter().find(|(sign, _)| split(near, sign).is_some());
    Parsed { level: found.map(|(_, level)| *level), ..Parsed::plain(text) }
}
