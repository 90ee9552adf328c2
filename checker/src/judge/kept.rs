//! What was promised against what is there.

use super::client_view::{ClientView, End};
use super::copies::reference;
use super::visible::Held;
use crate::logs::{Entry, Logs, Marked, ReplicaLog};
use crate::report::Findings;
use crate::{RecordId, Text, Wrong};
use std::collections::{BTreeMap, BTreeSet, HashMap};

pub fn judge(view: &ClientView<'_>, logs: &Logs, findings: &mut Findings) {
    let mut held: BTreeMap<i32, Held> = BTreeMap::new();
    for (partition, replicas) in &logs.partitions {
        if let Some(log) = reference(replicas) {
            let copy = Held::from_log(log);
            duplicated(*partition, &copy, findings);
            reordered(*partition, &copy, findings);
            held.insert(*partition, copy);
        }
    }
    let kept = Kept { view, held, anywhere: anywhere(logs), logs };
    kept.promises(findings);
    kept.aborted(findings);
    kept.torn(findings);
}

fn duplicated(partition: i32, held: &Held, findings: &mut Findings) {
    for (id, places) in &held.places {
        let Some((first, again)) = places.split_first() else { continue };
        for place in again {
            let why = format!("it is at offset {} already", first.offset);
            findings.of_record(Wrong::Duplicated, *id, partition, Some(place.offset), why);
        }
    }
}

/// Within one client and one partition, numbers only rise. The second copy of a
/// record is a duplicate and nothing else.
fn reordered(partition: i32, held: &Held, findings: &mut Findings) {
    let mut highest: HashMap<usize, u64> = HashMap::new();
    let mut met: BTreeSet<RecordId> = BTreeSet::new();
    for (offset, id) in &held.order {
        if !met.insert(*id) {
            continue;
        }
        let before = highest.entry(id.client).or_insert(id.number);
        if id.number < *before {
            let why = format!("it comes after number {before}, which was sent later");
            findings.of_record(Wrong::Reordered, *id, partition, Some(*offset), why);
        }
        *before = id.number.max(*before);
    }
}

/// Every record that any replica has.
fn anywhere(logs: &Logs) -> BTreeSet<RecordId> {
    let replicas = logs.partitions.values().flatten();
    replicas.flat_map(|log| Held::from_log(log).places.into_keys()).collect()
}

struct Kept<'a> {
    view: &'a ClientView<'a>,
    held: BTreeMap<i32, Held>,
    anywhere: BTreeSet<RecordId>,
    logs: &'a Logs,
}

impl Kept<'_> {
    fn is_visible(&self, id: RecordId, partition: i32) -> bool {
        self.held.get(&partition).is_some_and(|held| held.is_visible(id))
    }

    /// What was acknowledged and not aborted is there, can be seen, and was.
    fn promises(&self, findings: &mut Findings) {
        for (id, record) in self.view.promised() {
            let partition = record.partition;
            if !self.anywhere.contains(&id) {
                if let Some(why) = self.why_lost(partition) {
                    findings.of_record(Wrong::Lost, id, partition, None, why);
                }
            } else if !self.there(id, partition) {
                // The replicas differ, which is told of them.
            } else if !self.is_visible(id, partition) {
                let why = "its transaction was committed, and the log does not say so".into();
                findings.of_record(Wrong::CommittedInvisible, id, partition, None, why);
            } else if self.should_be_seen() && !self.view.seen.contains(&id) {
                let why = "the consumer group was never given it".into();
                findings.of_record(Wrong::Unseen, id, partition, None, why);
            }
        }
    }

    /// A group that was cut off would have been given more.
    fn should_be_seen(&self) -> bool {
        self.view.run.group && self.view.whole
    }

    /// In the copy that the others are held against.
    fn there(&self, id: RecordId, partition: i32) -> bool {
        self.held.get(&partition).is_some_and(|held| held.places.contains_key(&id))
    }

    /// What is not in the leader's copy, nor in any other, is lost. While the
    /// leader's can't be read, nobody can tell.
    fn why_lost(&self, partition: i32) -> Option<String> {
        let Some(replicas) = self.logs.partitions.get(&partition) else {
            return Some("the partition is gone".into());
        };
        let leader = replicas.iter().find(|log| log.leader && log.unread.is_none())?;
        let ReplicaLog { broker, start, end, .. } = leader;
        Some(format!("broker {broker} has the offsets from {start} to before {end}"))
    }

    /// What was aborted is seen by nobody.
    fn aborted(&self, findings: &mut Findings) {
        for (id, record) in &self.view.records {
            if self.view.end_of(*id) != Some(End::Aborted) {
                continue;
            }
            let why = match (self.is_visible(*id, record.partition), self.view.seen.contains(id)) {
                (true, _) => "the log says that its transaction was committed",
                (false, true) => "the consumer group was given it",
                (false, false) => continue,
            };
            let why = format!("{why}: {}", self.around(*id, record.partition));
            findings.of_record(Wrong::AbortedVisible, *id, record.partition, None, why);
        }
    }

    /// What its producer has in the log before and after it, up to the mark that ends its
    /// transaction: it shows a mark that is missing.
    fn around(&self, id: RecordId, partition: i32) -> String {
        let log = self.logs.partitions.get(&partition).and_then(|replicas| reference(replicas));
        let entries = log.map_or(&[][..], |log| &log.entries);
        let is_it =
            |entry: &Entry| matches!(entry.what, Marked::Data(Text::Record(it)) if it == id);
        let producer = entries.iter().find(|entry| is_it(entry)).and_then(|it| it.producer);
        let of_it = |entry: &&Entry| entry.producer.map(|it| it.0) == producer.map(|it| it.0);
        let own: Vec<&Entry> = entries.iter().filter(of_it).collect();
        let Some(at) = own.iter().position(|entry| is_it(entry)) else { return String::new() };
        let is_mark = |entry: &&&Entry| !matches!(entry.what, Marked::Data(_));
        let end =
            own[at..].iter().position(|entry| is_mark(&entry)).map_or(own.len(), |it| at + it + 1);
        let entry = |entry: &&Entry| {
            let epoch = entry.producer.map_or(-1, |it| it.1);
            match entry.what {
                Marked::Data(Text::Record(id)) => {
                    format!("offset {} epoch {epoch}: record {}", entry.offset, id.number)
                }
                what => format!("offset {} epoch {epoch}: {what:?}", entry.offset),
            }
        };
        let told: Vec<String> = own[at.saturating_sub(4)..end].iter().map(entry).collect();
        told.join(", ")
    }

    /// A transaction of which nobody knows how it ended is there whole or not
    /// at all.
    fn torn(&self, findings: &mut Findings) {
        let unsure = self.view.ends.iter().filter(|(_, end)| **end == End::Unsure);
        let mut members: BTreeMap<(usize, u64), Vec<(RecordId, bool)>> =
            unsure.map(|(key, _)| (*key, Vec::new())).collect();
        for (id, record) in self.view.acked() {
            let key = record.transaction.map(|transaction| (id.client, transaction));
            if let Some(members) = key.and_then(|key| members.get_mut(&key)) {
                members.push((id, self.is_visible(id, record.partition)));
            }
        }
        for ((_, transaction), members) in members {
            let (seen, unseen): (Vec<_>, Vec<_>) = members.into_iter().partition(|it| it.1);
            if let (Some(_), Some((id, _))) = (seen.first(), unseen.first()) {
                let (seen, all) = (seen.len(), seen.len() + unseen.len());
                let why = format!("{seen} of {all} records of transaction {transaction} are seen");
                let partition = self.view.records[id].partition;
                findings.of_record(Wrong::Torn, *id, partition, None, why);
            }
        }
    }
}
