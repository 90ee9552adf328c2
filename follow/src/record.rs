//! An event as bytes of the spool: time, level, source, then logger and message with their
//! lengths. The numbers of levels and sources are on disk and never change.

use model::{LogEvent, LogLevel, LogSource, Timestamp};

/// Beside logger and message.
const FIXED: usize = 16;

/// What is written of an event.
#[derive(Clone, Copy, Debug)]
pub struct Record<'a> {
    pub at: Timestamp,
    pub level: LogLevel,
    pub source: LogSource,
    pub logger: &'a [u8],
    /// One after the other. Bytes that are no UTF-8 are replaced.
    pub message: [&'a [u8]; 3],
}

impl Record<'_> {
    pub fn write(&self, out: &mut Vec<u8>) {
        out.extend(self.at.as_microsecond().to_le_bytes());
        out.push(number_of_level(self.level));
        out.push(number_of_source(self.source));
        let lengths = out.len();
        out.extend([0; 6]);
        let start = out.len();
        extend_lossy(out, self.logger);
        let middle = out.len();
        self.message.iter().for_each(|part| extend_lossy(out, part));
        let logger = u16::try_from(middle - start).unwrap_or(u16::MAX);
        let message = u32::try_from(out.len() - middle).unwrap_or(u32::MAX);
        out[lengths..lengths + 2].copy_from_slice(&logger.to_le_bytes());
        out[lengths + 2..start].copy_from_slice(&message.to_le_bytes());
    }
}

fn extend_lossy(out: &mut Vec<u8>, bytes: &[u8]) {
    for chunk in bytes.utf8_chunks() {
        out.extend_from_slice(chunk.valid().as_bytes());
        if !chunk.invalid().is_empty() {
            out.extend_from_slice("\u{fffd}".as_bytes());
        }
    }
}

/// Takes the first event from the bytes of some. None if it is not whole.
pub fn take(bytes: &mut &[u8]) -> Option<LogEvent> {
    let (fixed, logger, message) = split(bytes)?;
    let at = i64::from_le_bytes(fixed[..8].try_into().ok()?);
    Some(LogEvent {
        at: Timestamp::from_microsecond(at).ok()?,
        level: level_of_number(fixed[8])?,
        source: source_of_number(fixed[9])?,
        logger: String::from_utf8_lossy(logger).into_owned(),
        message: String::from_utf8_lossy(message).into_owned(),
    })
}

/// Goes past the first event.
pub fn skip(bytes: &mut &[u8]) -> Option<()> {
    split(bytes).map(|_| ())
}

fn split<'a>(bytes: &mut &'a [u8]) -> Option<(&'a [u8], &'a [u8], &'a [u8])> {
    let (fixed, rest) = bytes.split_at_checked(FIXED)?;
    let logger = u16::from_le_bytes(fixed[10..12].try_into().ok()?);
    let message = u32::from_le_bytes(fixed[12..].try_into().ok()?);
    let (logger, rest) = rest.split_at_checked(usize::from(logger))?;
    let (message, rest) = rest.split_at_checked(usize::try_from(message).ok()?)?;
    *bytes = rest;
    Some((fixed, logger, message))
}

const fn number_of_level(level: LogLevel) -> u8 {
    match level {
        LogLevel::Trace => 0,
        LogLevel::Debug => 1,
        LogLevel::Info => 2,
        LogLevel::Warn => 3,
        LogLevel::Error => 4,
        LogLevel::Fatal => 5,
    }
}

fn level_of_number(number: u8) -> Option<LogLevel> {
    LogLevel::ALL.into_iter().find(|level| number_of_level(*level) == number)
}

const fn number_of_source(source: LogSource) -> u8 {
    match source {
        LogSource::Broker => 0,
        LogSource::Output => 1,
        LogSource::GarbageCollector => 2,
        LogSource::Agent => 3,
    }
}

fn source_of_number(number: u8) -> Option<LogSource> {
    LogSource::ALL.into_iter().find(|source| number_of_source(*source) == number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_is_read_as_it_was_written() {
        let mut bytes = Vec::new();
        let at: Timestamp = "2026-11-05T10:23:20.123456Z".parse().unwrap();
        for (level, source) in LogLevel::ALL.into_iter().zip(LogSource::ALL.into_iter().cycle()) {
            let message: [&[u8]; 3] = [b"a\xff", "ä".as_bytes(), b""];
            Record { at, level, source, logger: b"kafka.Kafka$", message }.write(&mut bytes);
        }
        let mut rest = &*bytes;
        skip(&mut rest).unwrap();
        for (level, source) in
            LogLevel::ALL.into_iter().zip(LogSource::ALL.into_iter().cycle()).skip(1)
        {
            let event = take(&mut rest).unwrap();
            let (logger, message) = ("kafka.Kafka$".to_owned(), "a\u{fffd}ä".to_owned());
            assert_eq!(event, LogEvent { at, level, source, logger, message });
        }
        assert_eq!(take(&mut rest), None);
        assert_eq!(take(&mut &bytes[..bytes.len() / 6 - 1]), None, "cut off");
    }
}
