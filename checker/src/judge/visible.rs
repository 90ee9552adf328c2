//! What one copy of a partition holds of a run, and what of it a consumer of
//! committed records is given.

use crate::logs::{Marked, ReplicaLog};
use crate::{RecordId, Text};
use std::collections::{BTreeMap, HashMap};

pub struct Held {
    /// In the order of the log.
    pub order: Vec<(i64, RecordId)>,
    /// Where each record is, and whether it can be seen there.
    pub places: BTreeMap<RecordId, Vec<Place>>,
}

#[derive(Clone, Copy)]
pub struct Place {
    pub offset: i64,
    pub visible: bool,
}

impl Held {
    pub fn from_log(log: &ReplicaLog) -> Self {
        let mut held = Self { order: Vec::new(), places: BTreeMap::new() };
        // Records of transactions that have not come to an end, by producer.
        let mut open: HashMap<i64, Vec<(i64, RecordId)>> = HashMap::new();
        for entry in &log.entries {
            let producer = entry.producer.map(|(id, _)| id);
            match (entry.what, producer) {
                (Marked::Data(Text::Record(id)), producer) => {
                    held.order.push((entry.offset, id));
                    let producer = producer.filter(|_| entry.transactional);
                    held.put(id, entry.offset, producer.is_none());
                    if let Some(producer) = producer {
                        open.entry(producer).or_default().push((entry.offset, id));
                    }
                }
                (Marked::Commit, Some(producer)) => {
                    for (offset, id) in open.remove(&producer).unwrap_or_default() {
                        held.show(id, offset);
                    }
                }
                (Marked::Abort, Some(producer)) => drop(open.remove(&producer)),
                _ => {}
            }
        }
        held
    }

    fn put(&mut self, id: RecordId, offset: i64, visible: bool) {
        self.places.entry(id).or_default().push(Place { offset, visible });
    }

    fn show(&mut self, id: RecordId, offset: i64) {
        for place in self.places.get_mut(&id).into_iter().flatten() {
            place.visible |= place.offset == offset;
        }
    }

    pub fn is_visible(&self, id: RecordId) -> bool {
        self.places.get(&id).is_some_and(|places| places.iter().any(|place| place.visible))
    }
}
