//! How copies follow their leaders in a simulated cluster: who has everything
//! is in sync, who does not fetch for too long is not.

use super::copies::{Copies, Turn};
use super::node::Node;
use super::partition::Partition;
use super::speed::Speeds;
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
        let speeds = Speeds::new(&metadata, &self.copies, self.timing);
        for (topic, settings) in &metadata.topics {
            for (index, partition) in settings.partitions.iter().enumerate() {
                let place = (topic.clone(), index);
                let mut copies = self.copies.remove(&place).unwrap_or_default();
                let speed = |from, to| speeds.find(&place, from, to);
                for (broker, joins) in self.advance_copies(partition, &mut copies, speed) {
                    moves.push(Move { topic: topic.clone(), index, broker, joins });
                }
                self.copies.insert(place, copies);
            }
        }
        let went_on = !moves.is_empty();
        for Move { topic, index, broker, joins } in moves {
            let change = |partition: &mut Partition, rules| {
                let mut in_sync = partition.in_sync.clone();
                in_sync.retain(|other| *other != broker);
                in_sync.extend(joins.then_some(broker));
                partition.set_in_sync(in_sync, rules);
            };
            self.change().change_one((&topic, index), change).expect("it was just there");
        }
        went_on
    }

    /// Brokers whose copy joins those in sync, or leaves them.
    fn advance_copies(
        &self,
        partition: &Partition,
        copies: &mut Copies,
        speed: impl Fn(i32, i32) -> u64,
    ) -> Vec<(i32, bool)> {
        let works = |id: &i32| self.nodes.get(id).is_some_and(Node::works);
        let Some(leader) = partition.leader.filter(works) else {
            copies.joining.clear();
            copies.lagging.clear();
            return Vec::new();
        };
        let (now, timing, led) = (self.now, self.timing, self.is_led());
        let followers = partition.replicas.iter().copied().filter(|id| *id != leader);
        followers
            .filter_map(|id| {
                let node = self.nodes.get(&id);
                let fetches = node.is_some_and(|node| node.works() && node.fetches)
                    && self.metadata.is_active(id);
                let in_sync = partition.in_sync.contains(&id);
                let turn = Turn { now, timing, leader, led, speed: speed(leader, id) };
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
