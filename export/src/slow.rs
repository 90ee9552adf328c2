//! Integrations whose last call took long. They hold places like those that fail, so that they
//! leave others to those that are quick. In memory: after a restart each has to be slow again.

use crate::under_way::Key;
use model::SignedDuration;
use std::collections::HashMap;

/// A call that takes longer is a slow one.
const SLOW: SignedDuration = SignedDuration::from_secs(5);
/// Without another one for so long, it is forgotten: the integration may be gone.
const REMEMBERED: SignedDuration = SignedDuration::from_mins(15);

#[derive(Default, Debug)]
pub struct Slow {
    /// When their last slow call was over, by [`model::Clock::elapsed`].
    over: HashMap<Key, SignedDuration>,
}

impl Slow {
    pub fn note(&mut self, integration: Key, call: SignedDuration, now: SignedDuration) {
        self.over.retain(|_, at| now - *at < REMEMBERED);
        if call > SLOW {
            self.over.insert(integration, now);
        } else {
            self.over.remove(&integration);
        }
    }

    pub fn has(&self, integration: Key) -> bool {
        self.over.contains_key(&integration)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::{InstanceId, IntegrationId};

    #[test]
    fn a_slow_one_is_remembered_until_it_is_quick_or_gone() {
        let [one, other] = [1, 2].map(|id| (InstanceId(1), IntegrationId(id)));
        let seconds = SignedDuration::from_secs;
        let mut slow = Slow::default();
        slow.note(one, seconds(6), seconds(100));
        slow.note(other, seconds(5), seconds(100));
        assert_eq!([one, other].map(|it| slow.has(it)), [true, false]);
        slow.note(one, seconds(1), seconds(160));
        assert!(!slow.has(one));
        slow.note(one, seconds(14), seconds(200));
        slow.note(other, seconds(14), seconds(1000));
        assert!(slow.has(one) && slow.has(other));
        slow.note(other, seconds(14), seconds(1100));
        assert!(!slow.has(one) && slow.has(other));
    }
}
