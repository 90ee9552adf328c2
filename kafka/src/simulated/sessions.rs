//! Which brokers a simulated cluster counts on: one that is silent for too long
//! is fenced, one that is heard again is not.

use super::metadata::Registration;
use super::node::{Node, Process};
use super::state::State;
use model::Timestamp;

impl State {
    /// When a silent broker's session ends, if a controller watches it. A new
    /// controller gives everybody a new session.
    pub(super) fn fenced_at(&self, node: &Node) -> Option<Timestamp> {
        let silent = node.silent_since.filter(|_| self.is_led())?;
        let since = self.voting.elected_at.map_or(silent, |elected| elected.max(silent));
        Some(since + self.timing.session)
    }

    /// Whether anything changed.
    pub(super) fn advance_sessions(&mut self) -> bool {
        let registered: Vec<(i32, Registration)> =
            self.metadata.brokers.iter().map(|(id, it)| (*id, *it)).collect();
        let mut went_on = false;
        for (id, registration) in registered {
            went_on |= self.advance_session(id, registration);
        }
        went_on
    }

    fn advance_session(&mut self, id: i32, registration: Registration) -> bool {
        let (now, led) = (self.now, self.is_led());
        let is_attached = self.nodes.get(&id).is_some_and(|node| self.is_attached(node));
        let Some(node) = self.nodes.get_mut(&id) else { return false };
        if node.works() && is_attached || registration.fenced {
            node.silent_since = None;
        } else {
            node.silent_since.get_or_insert(now);
        }
        let node = &self.nodes[&id];
        let works = node.works() && node.process == Process::Running;
        let back = registration.fenced && works && is_attached;
        if led && back {
            let metadata = self.change();
            metadata.brokers.insert(id, Registration::default());
            metadata.welcome();
            return true;
        }
        if self.fenced_at(node).is_none_or(|at| at > now) {
            return false;
        }
        let metadata = self.change();
        metadata.brokers.insert(id, Registration { fenced: true, stopping: false });
        metadata.retire(id);
        true
    }
}
