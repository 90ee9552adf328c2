//! How copies follow their leaders in a simulated cluster: who has everything
//! is in sync, who does not fetch for too long is not.

use super::copies::{Copies, Turn};
use super::metadata::Partition;
use super::node::Node;
use super::state::State;

/// A copy that is now in sync, or no longer.
struct Move {
    topic: String,
    index: usize,
    broker: i32,
    joins: bool,
}

impl State {
    /// Whether anything changed.
    pub(super) fn advance_replicas(&mut self) -> bool {
        let metadata = self.metadata.clone();
        let mut moves = Vec::new();
        for (topic, settings) in &metadata.topics {
            for (index, partition) in settings.partitions.iter().enumerate() {
                let place = (topic.clone(), index);
                let mut copies = self.copies.remove(&place).unwrap_or_default();
                for (broker, joins) in self.advance_copies(partition, &mut copies) {
                    moves.push(Move { topic: topic.clone(), index, broker, joins });
                }
                self.copies.insert(place, copies);
            }
        }
        let went_on = !moves.is_empty();
        for Move { topic, index, broker, joins } in moves {
            let topic = self.change().topics.get_mut(&topic).expect("it was just there");
            let in_sync = &mut topic.partitions[index].in_sync;
            in_sync.retain(|other| *other != broker);
            in_sync.extend(joins.then_some(broker));
        }
        went_on
    }

    /// Brokers whose copy joins those in sync, or leaves them.
    fn advance_copies(&self, partition: &Partition, copies: &mut Copies) -> Vec<(i32, bool)> {
        let works = |id: &i32| self.nodes.get(id).is_some_and(Node::works);
        let Some(leader) = partition.leader.filter(works) else {
            copies.joining.clear();
            copies.lagging.clear();
            return Vec::new();
        };
        let turn = Turn { now: self.now, timing: self.timing, leader, led: self.is_led() };
        let followers = partition.replicas.iter().copied().filter(|id| *id != leader);
        followers
            .filter_map(|id| {
                let node = self.nodes.get(&id);
                let fetches = node.is_some_and(|node| node.works() && node.fetches)
                    && self.metadata.is_active(id);
                let in_sync = partition.in_sync.contains(&id);
                let joins = match (in_sync, fetches) {
                    (true, true) => copies.goes_on(id, &turn),
                    (true, false) => copies.falls_behind(id, &turn),
                    (false, true) => copies.catches_up(id, &turn),
                    (false, false) => copies.is_away(id),
                };
                joins.map(|joins| (id, joins))
            })
            .collect()
    }
}
