//! What the clients know of their records and transactions.

use crate::{Event, History, RecordId, Run};
use std::collections::{BTreeMap, BTreeSet};

pub struct ClientView<'a> {
    pub run: &'a Run,
    pub records: BTreeMap<RecordId, Record>,
    /// By client and number.
    pub ends: BTreeMap<(usize, u64), End>,
    /// What the consumer group was given.
    pub seen: BTreeSet<RecordId>,
    /// All ended in an orderly way, the group last: nothing more was to come.
    pub whole: bool,
}

pub struct Record {
    pub partition: i32,
    pub transaction: Option<u64>,
    pub sent_at: u64,
    pub answer: Answer,
}

pub enum Answer {
    None,
    Acked { offset: Option<i64>, at: u64 },
    Failed { at: u64, error: String },
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum End {
    Committed,
    Aborted,
    Unsure,
}

impl<'a> ClientView<'a> {
    pub fn from_history(history: &'a History) -> Self {
        let mut view = Self {
            run: &history.run,
            records: BTreeMap::new(),
            ends: BTreeMap::new(),
            seen: BTreeSet::new(),
            whole: false,
        };
        for event in &history.events {
            view.note(event);
        }
        view
    }

    fn note(&mut self, event: &Event) {
        match event {
            Event::Sent { id, partition, transaction, at } => {
                let (partition, transaction) = (*partition, *transaction);
                let record = Record { partition, transaction, sent_at: *at, answer: Answer::None };
                self.records.insert(*id, record);
            }
            Event::Acked { id, offset, at } => {
                self.answer(*id, Answer::Acked { offset: *offset, at: *at });
            }
            Event::Failed { id, at, error } => {
                self.answer(*id, Answer::Failed { at: *at, error: error.clone() });
            }
            Event::Committed { client, transaction, .. } => {
                self.ends.insert((*client, *transaction), End::Committed);
            }
            Event::Aborted { client, transaction, .. } => {
                self.ends.insert((*client, *transaction), End::Aborted);
            }
            Event::Unsure { client, transaction, .. } => {
                self.ends.insert((*client, *transaction), End::Unsure);
            }
            Event::Seen { id, .. } => {
                self.seen.insert(*id);
            }
            Event::Ended { .. } => self.whole = true,
            Event::SeenAll { .. } | Event::Trouble { .. } => {}
        }
    }

    fn answer(&mut self, id: RecordId, answer: Answer) {
        if let Some(record) = self.records.get_mut(&id) {
            record.answer = answer;
        }
    }

    /// How the record's transaction ended; a history that was cut off may not
    /// say. A record outside of any counts as committed.
    pub fn end_of(&self, id: RecordId) -> Option<End> {
        match self.records.get(&id)?.transaction {
            None => Some(End::Committed),
            Some(transaction) => self.ends.get(&(id.client, transaction)).copied(),
        }
    }

    pub fn acked(&self) -> impl Iterator<Item = (RecordId, &Record)> {
        let acked = |record: &Record| matches!(record.answer, Answer::Acked { .. });
        self.records.iter().filter(move |(_, record)| acked(record)).map(|(id, it)| (*id, it))
    }

    /// Whether every client that sent records got an ack. One that got none says nothing of
    /// the cluster.
    pub fn every_client_was_acked(&self) -> bool {
        let sent: BTreeSet<usize> = self.records.keys().map(|id| id.client).collect();
        let acked: BTreeSet<usize> = self.acked().map(|(id, _)| id.client).collect();
        sent == acked
    }

    /// Acknowledged, and of no transaction or of a committed one.
    pub fn promised(&self) -> impl Iterator<Item = (RecordId, &Record)> {
        self.acked().filter(|(id, _)| self.end_of(*id) == Some(End::Committed))
    }

    /// The highest offset of a partition that was acknowledged.
    pub fn highest(&self, partition: i32) -> Option<i64> {
        let here = self.acked().filter(|(_, record)| record.partition == partition);
        let offset = |record: &Record| match record.answer {
            Answer::Acked { offset, .. } => offset,
            _ => None,
        };
        here.filter_map(|(_, record)| offset(record)).max()
    }

    /// From send to ack: when it was sent, and how long it took.
    pub fn waits(&self, client: Option<usize>) -> Vec<(u64, u64, RecordId)> {
        let of = |id: &RecordId| client.is_none_or(|client| client == id.client);
        let wait = |(id, record): (RecordId, &Record)| match record.answer {
            Answer::Acked { at, .. } => {
                Some((record.sent_at, at.saturating_sub(record.sent_at), id))
            }
            _ => None,
        };
        self.acked().filter(|(id, _)| of(id)).filter_map(wait).collect()
    }
}
