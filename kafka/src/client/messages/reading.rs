//! The reading of one partition, from one answer to the next; pure, but that it
//! looks at what it may still cost.
//!
//! What is told of a partition has no gap that was not in the log: the first ones
//! from where it began, or the last ones. If it can't have all of them, it has
//! fewer.

use super::Message;
use super::budget::Budget;
use crate::client::TopicPartition;
use crate::client::admin::fetch::Fetched;
use crate::client::batch::{Batch, RawRecord};
use std::collections::{BTreeSet, VecDeque};
use std::ops::ControlFlow;

/// What a message takes beside its bytes, of which it may have none.
const MESSAGE: usize = 256;
/// How much further back is looked when too little was found.
const WIDER: i64 = 8;

/// What is wanted of a partition.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Wanted {
    pub count: usize,
    pub bytes: usize,
    /// The last ones, not the first.
    pub newest: bool,
    /// What one pass may unpack, and by one batch too many at the most.
    pub unpacked: usize,
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
    /// How many bytes it has unpacked.
    unpacked: usize,
    kept: VecDeque<Message>,
    bytes: usize,
    full: bool,
    /// Of a pass that came to its end.
    found: Option<VecDeque<Message>>,
    /// It cost too much, so there may be more than it tells.
    pub short: bool,
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
            unpacked: 0,
            kept: VecDeque::new(),
            bytes: 0,
            full: false,
            found: None,
            short: false,
        }
    }

    /// The offset to ask for next; none if everything is read.
    pub fn next(&self) -> Option<i64> {
        (self.next < self.end && !self.full).then_some(self.next)
    }

    /// How many bytes it has in memory.
    pub fn held(&self) -> usize {
        let found = self.found.iter().flatten().map(|it| MESSAGE + it.size());
        MESSAGE * self.kept.len() + self.bytes + found.sum::<usize>()
    }

    /// Takes what a broker sent, as far as it can be afforded. Whether that was
    /// anything.
    pub fn take(&mut self, fetched: Fetched, budget: &Budget) -> Result<bool, String> {
        let Some(mut records) = fetched.records else {
            // Retention was faster: there is nothing left of what was asked for.
            self.next = self.end;
            return Ok(true);
        };
        if self.next().is_none() {
            // A broker that tells of a partition twice does not end a pass twice.
            return Ok(false);
        }
        let before = self.next;
        let mut aborted = fetched.aborted.into_iter().peekable();
        let mut given_up = BTreeSet::new();
        while self.next().is_some()
            && !budget.is_spent()
            && let Some(batch) = Batch::next(&mut records)?
        {
            if self.unpacked >= self.wanted.unpacked {
                self.spare();
                return Ok(true);
            }
            while let Some((_, producer)) =
                aborted.next_if(|(first, _)| *first <= batch.last_offset)
            {
                given_up.insert(producer);
            }
            let unpacked = self.take_batch(&batch, &mut given_up)?;
            budget.spend(unpacked);
            self.unpacked += unpacked;
            self.next = self.next.max(batch.last_offset.saturating_add(1));
        }
        let went_on = self.next > before;
        if self.next >= self.end {
            self.end_pass();
        }
        Ok(went_on)
    }

    /// A transaction that was given up ends with a mark; what its producer wrote
    /// before that is not told, and neither are marks. How many bytes it was unpacked
    /// to.
    fn take_batch(&mut self, batch: &Batch, given_up: &mut BTreeSet<i64>) -> Result<usize, String> {
        let transaction = batch.transaction().filter(|producer| given_up.contains(producer));
        if batch.is_mark() {
            if let Some(producer) = transaction {
                given_up.remove(&producer);
            }
            return Ok(0);
        }
        if transaction.is_some() {
            return Ok(0);
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
        let message = message(self.at.clone(), record).within(self.wanted.bytes);
        let size = message.size();
        let fits = self.kept.len() < self.wanted.count && self.bytes + size <= self.wanted.bytes;
        if !fits && !self.wanted.newest {
            self.full = true;
            return ControlFlow::Break(());
        }
        self.kept.push_back(message.detached());
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
        (self.bytes, self.unpacked) = (0, 0);
        if self.wanted.newest && !enough && self.began > self.start {
            let back = self.end.saturating_sub(self.began).saturating_mul(WIDER);
            self.began = self.end.saturating_sub(back).max(self.start);
            self.next = self.began;
        }
    }

    /// This pass costs too much. The first ones are told as far as it came. The last
    /// ones are what the pass before found; if there was none, it begins once more, so
    /// late that half of what it may unpack should do.
    fn spare(&mut self) {
        let span = self.end.saturating_sub(self.began);
        if !self.wanted.newest || self.found.is_some() || span <= 1 {
            (self.full, self.short) = (true, true);
            return;
        }
        let times = self.unpacked.div_ceil(self.wanted.unpacked.max(1)).max(1);
        let times = i64::try_from(times).unwrap_or(i64::MAX);
        let affordable = self.next.saturating_sub(self.began) / times / 2;
        self.began = self.end.saturating_sub(affordable.clamp(1, span / 2));
        // Nobody looks further back again.
        self.start = self.began;
        self.next = self.began;
        self.kept.clear();
        (self.bytes, self.unpacked) = (0, 0);
    }

    /// Nobody asks on, though there may be more. Of the newest it has the wrong ones
    /// until a pass has come to its end.
    pub fn cut(&mut self) {
        self.short |= self.next().is_some();
        if self.short && self.wanted.newest {
            self.kept.clear();
        }
    }

    /// What was found: of the last pass that came to its end, or of the first.
    pub fn finish(self) -> impl Iterator<Item = Message> {
        self.found.unwrap_or(self.kept).into_iter()
    }
}

fn message(at: TopicPartition, record: RawRecord) -> Message {
    let RawRecord { offset, timestamp, key, value, headers, size } = record;
    match headers {
        Some(headers) => Message { at, offset, timestamp, key, value, headers, omitted: None },
        None => Message {
            at,
            offset,
            timestamp,
            key: None,
            value: None,
            headers: vec![],
            omitted: Some(size),
        },
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
