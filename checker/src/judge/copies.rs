//! Replicas against each other: the leader's copy, or the first that could be
//! read, is what the others must have too.

use super::client_view::ClientView;
use crate::logs::{Entry, Logs, ReplicaLog};
use crate::report::Findings;
use std::collections::BTreeMap;

pub fn judge(view: &ClientView<'_>, logs: &Logs, findings: &mut Findings) {
    for (partition, replicas) in &logs.partitions {
        let highest = view.highest(*partition);
        let reference = reference(replicas);
        for log in replicas {
            if let Some(reason) = &log.unread {
                findings.unread(*partition, log.broker, reason.clone());
                continue;
            }
            if let Some(highest) = highest.filter(|highest| log.end <= *highest) {
                findings.truncated(*partition, log.broker, log.end, highest);
            }
            if let Some(reference) = reference.filter(|it| it.broker != log.broker) {
                compare(*partition, reference, log, findings);
            }
        }
    }
}

/// The leader's copy comes first.
pub fn reference(replicas: &[ReplicaLog]) -> Option<&ReplicaLog> {
    replicas.iter().find(|log| log.unread.is_none())
}

/// Where both have something to say: from the later start to the earlier end.
fn compare(partition: i32, one: &ReplicaLog, other: &ReplicaLog, findings: &mut Findings) {
    let (start, end) = (one.start.max(other.start), one.end.min(other.end));
    let within = |log: &ReplicaLog| -> BTreeMap<i64, Entry> {
        let entries = log.entries.iter().filter(|entry| (start..end).contains(&entry.offset));
        entries.map(|entry| (entry.offset, *entry)).collect()
    };
    let (mut left, right) = (within(one), within(other));
    let mut differ = |offset: i64, left: Option<Entry>, right: Option<Entry>| {
        let why = format!(
            "broker {} has {}, broker {} has {}",
            one.broker,
            in_words(left),
            other.broker,
            in_words(right)
        );
        findings.differs(partition, other.broker, offset, why);
    };
    for (offset, entry) in right {
        let beside = left.remove(&offset);
        if beside != Some(entry) {
            differ(offset, beside, Some(entry));
        }
    }
    for (offset, entry) in left {
        differ(offset, Some(entry), None);
    }
}

fn in_words(entry: Option<Entry>) -> String {
    entry.map_or("nothing".into(), |entry| format!("{:?}", entry.what))
}
