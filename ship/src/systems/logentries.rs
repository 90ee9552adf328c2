//! Logentries, now InsightOps of Rapid7: lines that begin with a token, over TCP with TLS. A
//! line feed within an event becomes U+2028, as in the libraries of that system, which shows it
//! as a line feed again.

use crate::about::Origin;
use crate::batch::{Dialect, Frame, Limits, Spot};
use crate::link::BATCH;
use crate::text::{line, without_controls};
use model::LogEvent;
use std::io::Write as _;

/// Longer ones are split by its libraries at 65,536 characters.
const LINE: usize = 60_000;

pub struct Logs<'a> {
    token: &'a str,
    origin: &'a Origin,
}

impl<'a> Logs<'a> {
    pub fn new(token: &'a str, origin: &'a Origin) -> Self {
        Self { token, origin }
    }
}

impl Dialect<LogEvent> for Logs<'_> {
    fn limits(&self) -> Limits {
        Limits { bytes: BATCH, item: LINE, ..Limits::default() }
    }

    fn frame(&self) -> Frame {
        Frame::default()
    }

    fn write(&self, event: &LogEvent, spot: Spot, out: &mut Vec<u8>) {
        let Origin { instance, server } = self.origin;
        let text = line(event, spot.room);
        let text = without_controls(&text).replace("#015\n", "\n").replace('\n', "\u{2028}");
        let instance = without_controls(&instance.name).replace(['\n', '\t', '"'], "_");
        writeln!(
            out,
            "{} {:.3} instance=\"{instance}\" server={} source={} {text}",
            self.token, event.at, server.name, event.source,
        )
        .expect("memory takes everything");
    }
}
