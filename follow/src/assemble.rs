//! Makes events of the bytes of one log, which come in pieces of any size.
//!
//! A line that looks like the beginning of an event is one; others belong to the event before.
//! No more is held than one event's text, within its limit, and the beginning of one line.

use crate::format::{Format, HEAD, Parsed};
use crate::frame::Frame;
use crate::mark::{BEFORE, Identity, Mark};
use crate::record::Record;
use model::{LogLevel, LogSource, Timestamp};

/// Room for the text that is kept between events.
const KEPT: usize = 16 << 10;

/// A piece of a file, after what stands before it there.
pub struct Piece<'a> {
    pub file: Identity,
    pub bytes: &'a [u8],
    /// Where in the bytes the piece begins.
    pub from: usize,
    /// Where in the file the bytes begin.
    pub offset: u64,
}

impl Piece<'_> {
    fn mark(&self, at: usize) -> Mark {
        let before = &self.bytes[at.saturating_sub(BEFORE)..at];
        Mark::new(self.file, self.offset + at as u64, before)
    }

    pub fn new_bytes(&self) -> &[u8] {
        &self.bytes[self.from..]
    }
}

pub struct Assembler {
    source: LogSource,
    format: Format,
    limit: usize,
    /// What the open event has so far, if there is one.
    text: Vec<u8>,
    /// How many of its bytes are not in the text.
    cut: u64,
    /// Where the open event began.
    began: Option<Mark>,
    line: Line,
    last: Option<(Timestamp, LogLevel)>,
}

/// How far the present line is read.
enum Line {
    New,
    /// Too little to tell whether it begins an event, and where it began.
    Head(Vec<u8>, Mark),
    /// The rest goes to the open event.
    Body,
}

impl Assembler {
    pub fn new(source: LogSource, format: Format, limit: usize) -> Self {
        let (text, line) = (Vec::new(), Line::New);
        Self { source, format, limit, text, cut: 0, began: None, line, last: None }
    }

    /// Where in the log the first byte is that is in no event yet, if it was fed.
    pub fn began(&self) -> Option<Mark> {
        match (&self.began, &self.line) {
            (Some(began), _) | (None, Line::Head(_, began)) => Some(*began),
            (None, _) => None,
        }
    }

    pub fn is_within_line(&self) -> bool {
        !matches!(self.line, Line::New)
    }

    /// Whether a line that begins so would begin an event.
    pub fn begins(&self, head: &[u8]) -> bool {
        self.format.begins(&head[..head.len().min(HEAD)], &self.text)
    }

    pub fn feed(&mut self, piece: &Piece<'_>, now: Timestamp, out: &mut Frame) {
        let mut at = piece.from;
        while at < piece.bytes.len() {
            let rest = &piece.bytes[at..];
            let feed = rest.iter().position(|byte| *byte == b'\n');
            let part = &rest[..feed.unwrap_or(rest.len())];
            self.feed_part(part, feed.is_some(), || piece.mark(at), now, out);
            if feed.is_some() {
                self.end_line(now, out);
            }
            at += part.len() + 1;
        }
    }

    fn feed_part(
        &mut self,
        part: &[u8],
        is_end: bool,
        mark: impl Fn() -> Mark,
        now: Timestamp,
        out: &mut Frame,
    ) {
        match std::mem::replace(&mut self.line, Line::Body) {
            Line::Body => self.append(part),
            Line::New if is_end || part.len() >= HEAD => {
                self.open_line(part, mark, now, out);
                self.append(part);
            }
            Line::New => self.line = Line::Head(part.to_vec(), mark()),
            Line::Head(mut head, began) => {
                let (more, rest) = part.split_at(part.len().min(HEAD - head.len()));
                head.extend_from_slice(more);
                if is_end || head.len() == HEAD {
                    self.open_line(&head, || began, now, out);
                    self.append(&head);
                    self.append(rest);
                } else {
                    self.line = Line::Head(head, began);
                }
            }
        }
    }

    /// Makes room in the open event for a line that begins so, or begins an event with it.
    fn open_line(&mut self, head: &[u8], mark: impl Fn() -> Mark, now: Timestamp, out: &mut Frame) {
        if self.began.is_some() && !self.begins(head) {
            self.append(b"\n");
        } else {
            self.end_event(now, out);
            self.began = Some(mark());
        }
    }

    fn append(&mut self, bytes: &[u8]) {
        let taken = bytes.len().min(self.limit - self.text.len());
        self.text.extend_from_slice(&bytes[..taken]);
        self.cut += (bytes.len() - taken) as u64;
    }

    /// Ends the present line, whether or not it has its line feed.
    pub fn end_line(&mut self, now: Timestamp, out: &mut Frame) {
        if let Line::Head(head, began) = std::mem::replace(&mut self.line, Line::New) {
            self.open_line(&head, || began, now, out);
            self.append(&head);
        }
        if self.cut == 0 && self.text.last() == Some(&b'\r') {
            self.text.pop();
        }
    }

    /// Ends the open event, and the line within it.
    pub fn flush(&mut self, now: Timestamp, out: &mut Frame) {
        self.end_line(now, out);
        self.end_event(now, out);
    }

    fn end_event(&mut self, now: Timestamp, out: &mut Frame) {
        let is_one = self.began.take().is_some();
        if is_one && !self.text.trim_ascii().is_empty() {
            self.write(now, out);
        }
        self.text.clear();
        self.text.shrink_to(KEPT);
        self.cut = 0;
    }

    /// What can't be parsed has the time and level of the event before it.
    fn write(&mut self, now: Timestamp, out: &mut Frame) {
        let cut = if self.cut > 0 { self.cut_mark() } else { String::new() };
        let Parsed { at, level, logger, message } = self.format.parse(&self.text);
        let last = self.last.filter(|_| self.format.has_times()).unzip();
        let level = level.or(last.1).unwrap_or(LogLevel::Info);
        self.last = at.map(|at| (at, level)).or(self.last);
        let at = at.or(last.0).unwrap_or(now);
        let message = [message[0], message[1], cut.as_bytes()];
        out.push(&Record { at, level, source: self.source, logger, message });
    }

    /// Cuts at the end of a character, and adds how much is missing.
    fn cut_mark(&mut self) -> String {
        let near = self.text.len().saturating_sub(3);
        let last = self.text[near..].utf8_chunks().last();
        let broken = last.map_or(0, |chunk| chunk.invalid().len());
        self.text.truncate(self.text.len() - broken);
        format!(" … [{} bytes cut off]", self.cut + broken as u64)
    }

    /// Adds an event to the log where something is missing.
    pub fn note(&mut self, message: &str, now: Timestamp, out: &mut Frame) {
        self.flush(now, out);
        let message = [message.as_bytes(), b"", b""];
        let (source, logger) = (self.source, b"castellan");
        out.push(&Record { at: now, level: LogLevel::Warn, source, logger, message });
    }
}

#[cfg(test)]
mod tests;
