//! What a change of servers leaves for people to see to, told in the journal once it is over:
//! topics that kept one replica for want of room, and topics whose own min ISR is not what it
//! was, or not what their replicas allow. Pure; nothing is changed for it.

use super::Placed;
use kafka::placement::PlacedTopic;
use model::Resize;
use model::condition::{FirstFew, Note};

impl Placed {
    /// Of a change that is over. Nothing for one that was undone: all of it is put back.
    pub(crate) fn leftovers(&self, resize: &Resize) -> Vec<Note> {
        if resize.undo {
            return vec![];
        }
        let lowered = resize.memory.lowered.keys().filter(|topic| self.view.topic(topic).is_some());
        let lowered: Vec<String> = lowered.cloned().collect();
        let not_raised = self.plan.not_raised.iter().map(|it| it.topic.to_string());
        let not_raised: Vec<String> = not_raised.collect();
        let is_first_growth = resize.from == 1 && resize.to > 1;
        let low = self.view.topics.iter().filter(|topic| is_first_growth && is_low(topic));
        let low: Vec<String> = low.map(|topic| topic.name.clone()).collect();
        let mut notes = vec![];
        if !lowered.is_empty() {
            notes.push(Note::MinIsrLowered { topics: FirstFew::many(lowered) });
        }
        if !not_raised.is_empty() {
            notes.push(Note::NotRaised { topics: FirstFew::many(not_raised) });
        }
        if !low.is_empty() {
            notes.push(Note::MinIsrLow { topics: FirstFew::many(low) });
        }
        notes
    }
}

/// One replica in sync is enough for it by a setting of its own, and it has more.
fn is_low(topic: &PlacedTopic) -> bool {
    let has_copies = topic.partitions.iter().any(|partition| partition.replicas.len() > 1);
    let is_own = topic.has_own_min_in_sync && topic.min_in_sync == 1;
    is_own && has_copies && !topic.name.starts_with("__")
}
