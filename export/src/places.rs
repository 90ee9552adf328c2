//! The places in which calls are made.
//!
//! There are so many, and one system, one account, one instance, and what fails of one
//! system each hold a part of them at most. However many calls of one of these hang, others
//! have places; and an integration has one call at a time.

use model::{AccountId, InstanceId, IntegrationId, IntegrationSystem};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard};
use store::DueTurn;

/// Whoever holds places together.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Holder {
    All,
    System(IntegrationSystem),
    Account(AccountId),
    Instance(InstanceId),
    /// Those whose last call failed: they may hang.
    Failing(IntegrationSystem),
    Integration(InstanceId, IntegrationId),
}

impl Holder {
    fn most(self) -> usize {
        match self {
            Self::All => 32,
            Self::System(_) => 24,
            Self::Account(_) => 16,
            Self::Instance(_) | Self::Failing(_) => 4,
            Self::Integration(..) => 1,
        }
    }

    fn all(asking: Asking) -> Vec<Self> {
        let mut all = vec![
            // The last that is given back.
            Self::Integration(asking.instance, asking.integration),
            Self::All,
            Self::System(asking.system),
            Self::Account(asking.account),
            Self::Instance(asking.instance),
        ];
        if asking.failing {
            all.push(Self::Failing(asking.system));
        }
        all
    }
}

/// Who wants a place.
#[derive(Clone, Copy, Debug)]
pub struct Asking {
    pub account: AccountId,
    pub instance: InstanceId,
    pub integration: IntegrationId,
    pub system: IntegrationSystem,
    /// Its last call failed.
    pub failing: bool,
}

impl From<&DueTurn> for Asking {
    fn from(turn: &DueTurn) -> Self {
        Self {
            account: turn.account_id,
            instance: turn.instance_id,
            integration: turn.id,
            system: turn.system,
            failing: turn.failures > 0,
        }
    }
}

/// Those that are held now.
#[derive(Clone, Default, Debug)]
pub struct Places(Arc<Mutex<HashMap<Holder, usize>>>);

/// A place; it is free again when this is dropped.
#[derive(Debug)]
pub struct Place {
    of: Places,
    holders: Vec<Holder>,
}

impl Places {
    /// None if another call has to end first.
    pub fn take(&self, asking: Asking) -> Option<Place> {
        let holders = Holder::all(asking);
        let mut held = self.held();
        let has_room = |it: &Holder| held.get(it).copied().unwrap_or_default() < it.most();
        if !holders.iter().all(has_room) {
            return None;
        }
        for holder in &holders {
            *held.entry(*holder).or_default() += 1;
        }
        drop(held);
        Some(Place { of: self.clone(), holders })
    }

    fn held(&self) -> MutexGuard<'_, HashMap<Holder, usize>> {
        self.0.lock().expect("no holder of this lock panics")
    }
}

impl Place {
    /// The call is over: others may have the place. The integration still has none until what
    /// came of the call is written.
    pub fn end_call(&mut self) {
        self.give_back(1);
    }

    fn give_back(&mut self, but: usize) {
        let mut held = self.of.held();
        for holder in self.holders.drain(but.min(self.holders.len())..) {
            if let Some(count) = held.get_mut(&holder) {
                *count -= 1;
                if *count == 0 {
                    held.remove(&holder);
                }
            }
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.give_back(0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::{Entropy as _, SeededEntropy};

    struct Crowd {
        places: Places,
        accounts: Vec<AccountId>,
    }

    impl Crowd {
        fn new() -> Self {
            let entropy = SeededEntropy::new(1);
            let accounts = (0..10).map(|_| AccountId(entropy.uuid())).collect();
            Self { places: Places::default(), accounts }
        }

        /// How many of these get a place, each instance asking for ten integrations.
        fn take(
            &self,
            account: usize,
            instances: std::ops::Range<i64>,
            system: IntegrationSystem,
            failing: bool,
        ) -> Vec<Place> {
            let account = self.accounts[account];
            let ids = || (1..=10).map(IntegrationId);
            let all = instances.flat_map(|it| ids().map(move |id| (InstanceId(it), id)));
            let asking = |(instance, integration)| Asking {
                account,
                instance,
                integration,
                system,
                failing,
            };
            all.filter_map(|it| self.places.take(asking(it))).collect()
        }
    }

    #[test]
    fn everybody_has_a_part() {
        use IntegrationSystem as S;
        let crowd = Crowd::new();
        let one = crowd.take(0, 1..2, S::Otlp, false);
        assert_eq!(one.len(), 4, "an instance with many integrations");
        let rest = crowd.take(0, 2..100, S::Otlp, false);
        assert_eq!(rest.len(), 12, "an account with many instances");
        let others = crowd.take(1, 100..200, S::Otlp, false);
        assert_eq!(others.len(), 8, "a system that many use");
        assert_eq!(crowd.take(2, 200..300, S::Datadog, false).len(), 8, "all others");
        drop((one, rest, others));
        assert_eq!(crowd.take(0, 1..100, S::Otlp, true).len(), 4, "those that failed before");
    }

    #[test]
    fn an_integration_has_one_call_at_a_time_and_none_before_the_last_is_saved() {
        let crowd = Crowd::new();
        let take = || crowd.take(0, 1..2, IntegrationSystem::Otlp, false);
        let mut first = take();
        assert_eq!(first.len(), 4);
        first.iter_mut().for_each(Place::end_call);
        let second = take();
        assert_eq!(second.len(), 4, "others of the instance");
        drop((first, second));
        assert_eq!(crowd.places.held().len(), 0, "nothing is kept of those who are done");
    }
}
