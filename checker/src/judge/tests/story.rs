//! A short run in which all is well: two clients, two partitions, three brokers.
//! The first client writes twelve records; the other one three transactions, of
//! which one is committed, one aborted and one of unknown end.

use crate::logs::{Entry, Logs, Marked, ReplicaLog};
use crate::{Client, Event, History, RecordId, Report, Run, Text, judge};
use std::ops::Range;

pub const IDEMPOTENT: usize = 0;
pub const TRANSACTIONAL: usize = 1;
/// Numbers of the second client's records.
pub const COMMITTED: Range<u64> = 0..4;
pub const ABORTED: Range<u64> = 4..8;
pub const UNSURE: Range<u64> = 8..12;

const PARTITIONS: i32 = 2;
const PRODUCERS: [i64; 2] = [1000, 1001];

pub fn record(client: usize, number: u64) -> RecordId {
    RecordId { client, number }
}

pub struct Story {
    pub history: History,
    pub logs: Logs,
    at: u64,
}

impl Story {
    pub fn new() -> Self {
        let run = Run {
            id: "r1".into(),
            topic: "t".into(),
            partitions: PARTITIONS,
            clients: vec![Client::ALL[0], Client::ALL[1]],
            group: true,
            began: "2026-11-15T07:00:30Z".parse().unwrap(),
        };
        let logs = Logs { topic: "t".into(), partitions: (0..PARTITIONS).map(replicas).collect() };
        let mut story = Self { history: History { run, events: vec![] }, logs, at: 0 };
        for number in 0..10 {
            story.write(record(IDEMPOTENT, number), None);
        }
        let client = TRANSACTIONAL;
        story.transaction(0, COMMITTED, Marked::Commit);
        story.tell(|at| Event::Committed { client, transaction: 0, at });
        story.transaction(1, ABORTED, Marked::Abort);
        story.tell(|at| Event::Aborted { client, transaction: 1, at });
        story.transaction(2, UNSURE, Marked::Commit);
        let error = "fenced".to_owned();
        story.tell(|at| Event::Unsure { client, transaction: 2, at, error });
        for number in 10..12 {
            story.write(record(IDEMPOTENT, number), None);
        }
        let given = (0..12).map(|number| record(IDEMPOTENT, number));
        let given = given.chain(COMMITTED.chain(UNSURE).map(|number| record(client, number)));
        given.for_each(|id| story.see(id));
        story.tell(|at| Event::SeenAll { at });
        story.tell(|at| Event::Ended { at });
        story
    }

    pub fn judge(&self) -> Report {
        judge(&self.history, &self.logs)
    }

    fn tell(&mut self, event: impl FnOnce(u64) -> Event) {
        self.at += 1000;
        self.history.events.push(event(self.at));
    }

    fn write(&mut self, id: RecordId, transaction: Option<u64>) {
        let partition = i32::try_from(id.number % 2).unwrap();
        self.tell(|at| Event::Sent { id, partition, transaction, at });
        let mut offset = None;
        self.in_partition(partition, |mut log| {
            offset =
                Some(log.append(id.client, transaction.is_some(), Marked::Data(Text::Record(id))));
        });
        self.tell(|at| Event::Acked { id, offset, at });
    }

    fn transaction(&mut self, number: u64, records: Range<u64>, mark: Marked) {
        records.for_each(|record| {
            self.write(RecordId { client: TRANSACTIONAL, number: record }, Some(number));
        });
        self.everywhere(|mut log| {
            log.append(TRANSACTIONAL, true, mark);
        });
    }

    fn in_partition(&mut self, partition: i32, change: impl FnMut(Copy<'_>)) {
        self.logs.partitions.get_mut(&partition).unwrap().iter_mut().map(Copy).for_each(change);
    }

    /// On every replica of every partition.
    pub fn everywhere(&mut self, change: impl FnMut(Copy<'_>)) {
        self.logs.partitions.values_mut().flatten().map(Copy).for_each(change);
    }

    pub fn replica(&mut self, partition: i32, broker: i32) -> Copy<'_> {
        let replicas = self.logs.partitions.get_mut(&partition).unwrap();
        Copy(replicas.iter_mut().find(|log| log.broker == broker).unwrap())
    }

    /// The group was given it.
    pub fn see(&mut self, id: RecordId) {
        let partition = i32::try_from(id.number % 2).unwrap();
        self.tell(|at| Event::Seen { id, partition, offset: 0, at });
    }

    pub fn unsee(&mut self, unseen: RecordId) {
        self.history
            .events
            .retain(|event| !matches!(event, Event::Seen { id, .. } if *id == unseen));
    }

    pub fn forget_answer(&mut self, forgotten: RecordId) {
        self.history
            .events
            .retain(|event| !matches!(event, Event::Acked { id, .. } if *id == forgotten));
    }

    pub fn fail(&mut self, id: RecordId) {
        self.forget_answer(id);
        self.tell(|at| Event::Failed { id, at, error: "timed out".into() });
    }

    pub fn delay(&mut self, delayed: RecordId, by: u64) {
        for event in &mut self.history.events {
            match event {
                Event::Acked { id, at, .. } if *id == delayed => *at += by,
                _ => {}
            }
        }
    }

    /// The client of the committed transaction was told that it was aborted,
    /// and of its records the log has only the first.
    pub fn abort_told_of_committed(&mut self) {
        for event in &mut self.history.events {
            if let Event::Committed { client, transaction, at } = *event {
                *event = Event::Aborted { client, transaction, at };
            }
        }
        for number in COMMITTED {
            self.unsee(record(TRANSACTIONAL, number));
        }
        for number in COMMITTED.skip(1) {
            self.everywhere(|log| log.remove(record(TRANSACTIONAL, number)));
        }
    }
}

fn replicas(partition: i32) -> (i32, Vec<ReplicaLog>) {
    let copy = |broker| ReplicaLog {
        broker,
        leader: broker == 1,
        start: 0,
        end: 0,
        entries: vec![],
        unread: None,
    };
    (partition, [1, 2, 3].map(copy).into())
}

/// One replica's copy, to be spoilt.
pub struct Copy<'a>(&'a mut ReplicaLog);

impl Copy<'_> {
    fn append(&mut self, client: usize, transactional: bool, what: Marked) -> i64 {
        let offset = self.0.end;
        let producer = Some((PRODUCERS[client], 0));
        self.0.entries.push(Entry { offset, producer, transactional, what });
        self.0.end += 1;
        offset
    }

    fn place(&self, id: RecordId) -> Option<usize> {
        let wanted = Marked::Data(Text::Record(id));
        self.0.entries.iter().position(|entry| entry.what == wanted)
    }

    pub fn remove(self, id: RecordId) {
        if let Some(place) = self.place(id) {
            self.0.entries.remove(place);
        }
    }

    pub fn replace(self, id: RecordId, what: Marked) {
        let place = self.place(id).unwrap();
        self.0.entries[place].what = what;
    }

    /// A second time, at the end.
    pub fn again(mut self, id: RecordId) {
        if self.place(id).is_some() {
            self.append(id.client, false, Marked::Data(Text::Record(id)));
        }
    }

    pub fn stranger(mut self) {
        self.append(IDEMPOTENT, false, Marked::Data(Text::Stranger));
    }

    pub fn swap(self, one: RecordId, other: RecordId) {
        if let (Some(one), Some(other)) = (self.place(one), self.place(other)) {
            let left = self.0.entries[one].what;
            self.0.entries[one].what = self.0.entries[other].what;
            self.0.entries[other].what = left;
        }
    }

    /// Takes a record out of its transaction, into one of its own that ends
    /// with that mark.
    pub fn mark_of(mut self, id: RecordId, mark: Marked) {
        let Some(place) = self.place(id) else { return };
        let removed = self.0.entries.remove(place);
        let end = self.0.entries[place..].iter().position(is_end).unwrap() + place;
        self.0.entries.insert(end + 1, removed);
        self.append(id.client, true, mark);
        let entries = &mut self.0.entries;
        let added = entries.pop().unwrap();
        entries.insert(end + 2, added);
        for (offset, entry) in (0..).zip(entries.iter_mut()) {
            entry.offset = offset;
        }
    }

    pub fn mark_all_of(self, records: Range<u64>, mark: Marked) {
        let mut records = records.map(|number| record(TRANSACTIONAL, number));
        let place = records.find_map(|id| self.place(id)).unwrap();
        let end = self.0.entries[place..].iter_mut().find(|entry| is_end(entry)).unwrap();
        end.what = mark;
    }

    /// The last record is gone.
    pub fn truncate(self) {
        self.0.entries.pop();
        self.0.end -= 1;
    }

    pub fn clear(self) {
        self.0.entries.clear();
        self.0.end = 0;
    }

    pub fn unread(self) {
        self.0.unread = Some("it is down".into());
    }
}

fn is_end(entry: &Entry) -> bool {
    matches!(entry.what, Marked::Commit | Marked::Abort)
}
