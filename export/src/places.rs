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

    fn all(turn: &DueTurn) -> Vec<Self> {
        let mut all = vec![
            // The last that is given back.
            Self::Integration(turn.instance_id, turn.id),
            Self::All,
            Self::System(turn.system),
            Self::Account(turn.account_id),
            Self::Instance(turn.instance_id),
        ];
        if turn.failures > 0 {
            all.push(Self::Failing(turn.system));
        }
        all
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
    pub fn take(&self, turn: &DueTurn) -> Option<Place> {
        let holders = Holder::all(turn);
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
