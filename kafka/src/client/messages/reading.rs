//! The reading of one partition, from one answer to the next; pure.

use super::Message;
use crate::client::TopicPartition;
use crate::client::admin::fetch::Fetched;
use crate::client::batch::{Batch, RawRecord};
use std::collections::{BTreeSet, VecDeque};
use std::ops::ControlFlow;

/// How much further back is looked when too little was found.
const WIDER: i64 = 8;

/// What is wanted of a partition.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Wanted {
    pub count: usize,
    pub bytes: usize,
    /// The last ones, not the first.
    pub newest: bool,
}

pub(super) struct Reading {
    pub at: TopicPartition,
    wanted: Wanted,
    /// What the log holds that may be told.
    start: i64,
    end: i64,
    /// Where this pass began, and how far it has come.
    began: i64,
    next: i64,
    kept: VecDeque<Message>,
    bytes: usize,
    full: bool,
    /// Of a pass that came to its end.
    found: Option<VecDeque<Message>>,
}

impl Reading {
    /// Of what is from `from` on and below `end`; `start` is where the log
    /// begins. For the newest ones it begins as late as might do.
    pub fn new(at: TopicPartition, wanted: Wanted, start: i64, from: i64, end: i64) -> Self {
        let count = i64::try_from(wanted.count).unwrap_or(i64::MAX);
        let latest = end.saturating_sub(count);
        let began = if wanted.newest { latest } else { from }.max(start);
        Self {
            at,
            wanted,
            start,
            end,
            began,
            next: began,
            kept: VecDeque::new(),
            bytes: 0,
            full: false,
            found: None,
        }
    }

    /// The offset to ask for next; none if everything is read.
    pub fn next(&self) -> Option<i64> {
        (self.next < self.end && !self.full).then_some(self.next)
    }

    /// How many bytes it has in memory.
    pub fn held(&self) -> usize {
        self.bytes + self.found.iter().flatten().map(Message::size).sum::<usize>()
    }

    /// Takes what a broker sent. Whether that was anything.
    pub fn take(&mut self, fetched: Fetched) -> Result<bool, String> {
        let Some(mut records) = fetched.records else {
            // Retention was faster: there is nothing left of what was asked for.
            self.next = self.end;
            return Ok(true);
        };
        let before = self.next;
        let mut aborted = fetched.aborted.into_iter().peekable();
        let mut given_up = BTreeSet::new();
        while let Some(batch) = Batch::next(&mut records)? {
            while let Some((_, producer)) =
                aborted.next_if(|(first, _)| *first <= batch.last_offset)
            {
                given_up.insert(producer);
            }
            self.take_batch(&batch, &mut given_up)?;
            self.next = self.next.max(batch.last_offset.saturating_add(1));
            if self.full {
                break;
            }
        }
        let went_on = self.next > before;
        if self.next >= self.end {
            self.end_pass();
        }
        Ok(went_on)
    }

    /// A transaction that was given up ends with a mark; what its producer wrote
    /// before that is not told, and neither are marks.
    fn take_batch(&mut self, batch: &Batch, given_up: &mut BTreeSet<i64>) -> Result<(), String> {
        let transaction = batch.transaction().filter(|producer| given_up.contains(producer));
        if batch.is_mark() {
            if let Some(producer) = transaction {
                given_up.remove(&producer);
            }
            return Ok(());
        }
        if transaction.is_some() {
            return Ok(());
        }
        batch.visit(|record| self.keep(record)).map_err(|reason| {
            format!("the batch of {} that ends at {}: {reason}", self.at, batch.last_offset)
        })
    }

    fn keep(&mut self, record: RawRecord) -> ControlFlow<()> {
        // A batch may begin before the offset that was asked for.
        if record.offset < self.next {
            return ControlFlow::Continue(());
        }
        if record.offset >= self.end {
            return ControlFlow::Break(());
        }
        let RawRecord { offset, timestamp, key, value, headers } = record;
        let at = self.at.clone();
        let message = Message { at, offset, timestamp, key, value, headers, omitted: None };
        let message = message.within(self.wanted.bytes);
        let size = message.size();
        let fits = self.kept.len() < self.wanted.count && self.bytes + size <= self.wanted.bytes;
        if !fits && !self.wanted.newest {
            self.full = true;
            return ControlFlow::Break(());
        }
        self.kept.push_back(message);
        self.bytes += size;
        while self.kept.len() > self.wanted.count || self.bytes > self.wanted.bytes {
            let Some(oldest) = self.kept.pop_front() else { break };
            self.bytes -= oldest.size();
            self.full = false;
        }
        self.full = !self.wanted.newest && self.kept.len() == self.wanted.count;
        if self.full { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    /// Offsets are not numbers of messages: marks and compaction leave gaps. If
    /// the newest are fewer than wanted it begins once more, further back.
    fn end_pass(&mut self) {
        let found = std::mem::take(&mut self.kept);
        let enough = found.len() >= self.wanted.count || self.bytes >= self.wanted.bytes / 2;
        self.found = Some(found);
        self.bytes = 0;
        if self.wanted.newest && !enough && self.began > self.start {
            let back = self.end.saturating_sub(self.began).saturating_mul(WIDER);
            self.began = self.end.saturating_sub(back).max(self.start);
            self.next = self.began;
        }
    }

    /// What was found: of the last pass that came to its end, or of the first.
    pub fn finish(self) -> impl Iterator<Item = Message> {
        self.found.unwrap_or(self.kept).into_iter()
    }
}

/// One list of what was found in all partitions, the oldest first: the first or
/// the last so many, and no more than so many bytes of them.
pub(crate) fn merge(
    mut all: Vec<Message>,
    count: usize,
    bytes: usize,
    newest: bool,
) -> Vec<Message> {
    all.sort_by(|a, b| {
        (a.timestamp, a.at.partition, a.offset).cmp(&(b.timestamp, b.at.partition, b.offset))
    });
    if newest {
        all.reverse();
    }
    all.truncate(count);
    let mut left = bytes;
    let fitting = all.iter().take_while(|message| match left.checked_sub(message.size()) {
        Some(rest) => {
            left = rest;
            true
        }
        None => false,
    });
    let fitting = fitting.count();
    all.truncate(fitting);
    if newest {
        all.reverse();
    }
    all
}

#[cfg(test)]
mod tests;
