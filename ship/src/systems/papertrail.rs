//! Papertrail, and every other receiver of syslog: RFC 5424 with octet counting (RFC 6587), over
//! TLS (RFC 5425) or without.
//!
//! Line feeds and tabs of a stack trace stay: a message ends where its length says. Other
//! control characters are shown as rsyslog shows them. There is no byte-order mark before a
//! message, because receivers show it as a character of it.

use crate::about::Origin;
use crate::batch::{Dialect, Frame, Limits, Spot};
use crate::link::BATCH;
use crate::text::{fitting, shorten, without_controls};
use model::{LogEvent, LogLevel, LogSource};
use std::io::Write as _;
use syslog_fmt::v5424::{Config, Formatter, Msg};
use syslog_fmt::{Facility, Severity};

/// Papertrail takes 100,000 bytes over TCP.
const MESSAGE: usize = 60_000;
/// We have no enterprise number; this one is kept for examples.
const ELEMENT: &str = "castellan@32473";

pub struct Logs {
    formatters: Vec<(LogSource, Formatter)>,
    parameters: [(&'static str, String); 3],
}

impl Logs {
    pub fn new(origin: &Origin) -> Self {
        let Origin { instance, server } = origin;
        // Papertrail cuts names of hosts to 120.
        let hostname = fitting(&server.hostname, |c| c.is_ascii_graphic(), 120);
        let formatters = LogSource::ALL.into_iter().map(|source| {
            let config = Config {
                facility: Facility::Local0,
                // Without one there is a dash.
                hostname: (!server.hostname.is_empty()).then_some(&*hostname),
                app_name: Some(program(source)),
                proc_id: None,
            };
            (source, config.into_formatter())
        });
        let parameters = [
            ("instance", without_controls(&instance.name).into_owned()),
            ("instance-id", instance.id.to_string()),
            ("server", server.name.clone()),
        ];
        Self { formatters: formatters.collect(), parameters }
    }
}

fn program(source: LogSource) -> &'static str {
    match source {
        LogSource::Broker => "kafka",
        LogSource::Output => "kafka-output",
        LogSource::GarbageCollector => "kafka-gc",
        LogSource::Agent => "castellan-agent",
    }
}

fn severity(level: LogLevel) -> Severity {
    match level {
        LogLevel::Trace | LogLevel::Debug => Severity::Debug,
        LogLevel::Info => Severity::Info,
        LogLevel::Warn => Severity::Warning,
        LogLevel::Error => Severity::Err,
        LogLevel::Fatal => Severity::Crit,
    }
}

impl Dialect<LogEvent> for Logs {
    fn limits(&self) -> Limits {
        Limits { bytes: BATCH, item: MESSAGE, ..Limits::default() }
    }

    fn frame(&self) -> Frame {
        Frame::default()
    }

    fn write(&self, event: &LogEvent, spot: Spot, out: &mut Vec<u8>) {
        let formatter = self.formatters.iter().find(|(source, _)| *source == event.source);
        let (_, formatter) = formatter.expect("every source has one");
        let (at, message) = (format!("{:.3}", event.at), without_controls(&event.message));
        let message = shorten(&message, spot.room);
        let logger = without_controls(&event.logger);
        let logger = shorten(&logger, 256);
        let own = self.parameters.iter().map(|(name, value)| (*name, value.as_str()));
        let logger = (!logger.is_empty()).then_some(("logger", &*logger));
        let parameters: Vec<_> = own.chain(logger).collect();
        let mut line = Vec::with_capacity(message.len() + 256);
        formatter
            .write_with_data(
                &mut line,
                severity(event.level),
                at.as_str(),
                Msg::NonUnicodeBytes(message.as_bytes()),
                None,
                [(ELEMENT, parameters)],
            )
            .and_then(|()| write!(out, "{} ", line.len()))
            .expect("memory takes everything");
        out.extend_from_slice(&line);
    }
}
