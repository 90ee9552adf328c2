//! Follows the logs of one server into its spool, and serves its destinations from there.

use crate::fault::Fault;
use crate::files::{Files, Limits};
use crate::frame::Frame;
use crate::log::{self, Log};
use crate::spool::{Batch, Position, Spool};
use crate::state::Progress;
use model::{LogSource, Timestamp};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// The result of a turn: one look at all logs of the server.
#[derive(Debug, Default)]
pub struct Turn {
    /// Whether there is more to read.
    pub has_more: bool,
    /// Events that were read.
    pub events: u64,
    /// How often lines were removed before they were read. An event stands in their place.
    pub gaps: u64,
    /// What went wrong. The next turn tries it again.
    pub fault: Option<Fault>,
}

/// Follows logs for any number of destinations, which are known by their ids. Without one,
/// nothing is read nor kept.
pub struct Tail {
    files: Files,
    limits: Limits,
    logs: Vec<Log>,
    spool: Spool,
    frame: Frame,
    /// How far logs are with the frame, if it has yet to be written.
    waiting: Option<BTreeMap<LogSource, Progress>>,
    buffer: Vec<u8>,
    /// The log that is read first, so that no log waits for one that grows faster.
    turns: usize,
}

impl Tail {
    /// Goes on where an earlier process was, for the same destinations.
    pub fn open(directory: &Path, files: Files, limits: Limits) -> Result<Self, Fault> {
        let spool = Spool::open(directory, limits).map_err(|e| Fault::write(directory, e))?;
        let mut tail = Self {
            files,
            limits,
            logs: Vec::new(),
            spool,
            frame: Frame::new(),
            waiting: None,
            buffer: Vec::new(),
            turns: 0,
        };
        if tail.spool.has_readers() {
            tail.open_logs();
        } else {
            tail.spool.clear();
        }
        Ok(tail)
    }

    fn open_logs(&mut self) {
        let saved = |source| self.spool.progress(source);
        let open = |(source, format, path): (LogSource, _, &_)| {
            let (server, limit) = (&self.files.server, self.limits.event);
            Log::new((source, format, path), server, limit, saved(source))
        };
        self.logs = self.files.each().map(open).collect();
        self.buffer = vec![0; log::BUFFER];
    }

    /// Adds and removes destinations. A new one gets what is read from now on, and the first
    /// of all what is written from now on. They are set also where that can't be written yet.
    pub fn set_readers(&mut self, ids: &BTreeSet<i64>) -> Result<(), Fault> {
        let had_readers = self.spool.has_readers();
        self.spool.set_readers(ids);
        let mut fault = None;
        if ids.is_empty() {
            self.spool.clear();
            (self.logs, self.buffer, self.waiting) = (Vec::new(), Vec::new(), None);
            self.frame.clear();
        } else if !had_readers {
            self.open_logs();
            for log in &mut self.logs {
                if let Err(error) = log.begin_at_end() {
                    fault.get_or_insert(Fault::log(&log.path(), error));
                }
            }
            let progress = |log: &mut Log| Some((log.source, log.progress(true)?));
            self.spool.set_progress(self.logs.iter_mut().filter_map(progress).collect());
        }
        let saved = self.spool.save();
        let saved = saved.map_err(|error| Fault::write(self.spool.directory(), error));
        fault.map_or(saved, Err)
    }

    /// Reads a piece of each log, of [`crate::PIECE`] at most. To be called again soon while there
    /// is more, as fast as logs may be read, and else about every half second: it then costs a look
    /// at each file.
    pub fn turn(&mut self, now: Timestamp) -> Turn {
        let mut turn = Turn::default();
        if !self.spool.has_readers() {
            return turn;
        }
        if let Err(fault) = self.write_waiting() {
            turn.fault = Some(fault);
            return turn;
        }
        self.turns = self.turns.wrapping_add(1);
        for at in 0..self.logs.len() {
            let index = (self.turns + at) % self.logs.len();
            if !self.turn_of(index, now, &mut turn) {
                break;
            }
        }
        turn
    }

    /// What could not be written before.
    fn write_waiting(&mut self) -> Result<(), Fault> {
        if let Some(progress) = self.waiting.take() {
            self.append(progress)?;
        }
        self.spool.save().map_err(|error| Fault::write(self.spool.directory(), error))
    }

    /// False if what was read can't be written, so that no more may be read.
    fn turn_of(&mut self, index: usize, now: Timestamp, turn: &mut Turn) -> bool {
        let log = &mut self.logs[index];
        match log.turn(now, &mut self.buffer, &mut self.frame) {
            Ok(has_more) => turn.has_more |= has_more,
            Err(error) => {
                turn.fault.get_or_insert(Fault::log(&log.path(), error));
            }
        }
        turn.gaps += std::mem::take(&mut log.gaps);
        turn.events += u64::from(self.frame.count());
        let source = log.source;
        let Some(progress) = log.progress(self.frame.count() > 0) else { return true };
        let written = self.append(BTreeMap::from([(source, progress)]));
        let is_written = written.is_ok();
        if let Err(fault) = written {
            turn.fault = Some(fault);
            turn.has_more = false;
        }
        is_written
    }

    /// Writes the frame; what can't be written waits.
    fn append(&mut self, progress: BTreeMap<LogSource, Progress>) -> Result<(), Fault> {
        if let Err(error) = self.spool.append(&mut self.frame, &progress) {
            self.waiting = Some(progress);
            return Err(Fault::write(self.spool.directory(), error));
        }
        self.frame.clear();
        Ok(())
    }

    /// The next events of a destination, at least one if there are any: the same until it
    /// acknowledges some.
    pub fn read(&mut self, id: i64, events: usize, bytes: usize) -> Result<Batch, Fault> {
        let batch = self.spool.read(id, events, bytes);
        batch.map_err(|error| Fault::read(self.spool.directory(), error))
    }

    /// A destination has everything up to there. If that can't be written, the next turn
    /// tries it again and tells.
    pub fn ack(&mut self, id: i64, position: Position) {
        self.spool.ack(id, position);
        let _ = self.spool.save();
    }

    /// Whether there is a destination.
    pub fn has_readers(&self) -> bool {
        self.spool.has_readers()
    }

    /// How many events a destination never got since it was added, or since they were
    /// forgotten: because there was no room to keep them any longer, or it refused them.
    pub fn dropped(&self, id: i64) -> u64 {
        self.spool.dropped(id)
    }

    /// A destination refused so many events for ever.
    pub fn refused(&mut self, id: i64, events: u64) {
        self.spool.refused(id, events);
    }

    /// Counts from now on what a destination never gets.
    pub fn forget_dropped(&mut self, id: i64) {
        self.spool.forget_dropped(id);
    }

    /// How many events are kept for a destination, and about how many bytes.
    pub fn behind(&self, id: i64) -> (u64, u64) {
        self.spool.behind(id)
    }
}
