//! The places in which messages are sent.
//!
//! There are so many, and one instance, one destination, and one instance at one
//! destination each hold a part of them at most. However many destinations of an
//! instance hang, and however many instances use one that does, the others have places.

use model::InstanceId;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard};

const ALL: usize = 128;
const OF_INSTANCE: usize = 16;
/// Also how many messages of one instance to one destination are worth a look.
pub const OF_DESTINATION: u32 = 16;
/// Several instances may use one service, and one of them can make it slow
/// for itself alone.
const OF_BOTH: usize = 4;

/// Whoever holds places together.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
enum Holder {
    Everybody,
    Instance(InstanceId),
    Destination(String),
    Both(InstanceId, String),
}

impl Holder {
    fn most(&self) -> usize {
        match self {
            Self::Everybody => ALL,
            Self::Instance(_) => OF_INSTANCE,
            Self::Destination(_) => OF_DESTINATION as usize,
            Self::Both(..) => OF_BOTH,
        }
    }

    fn all(instance: Option<InstanceId>, destination: &str) -> Vec<Self> {
        let to = || destination.to_owned();
        let mut all = vec![Self::Everybody, Self::Destination(to())];
        // Mail that is of no alarm is nobody's in particular.
        if let Some(id) = instance {
            all.extend([Self::Instance(id), Self::Both(id, to())]);
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
    /// None if somebody has to give one back first.
    pub fn take(&self, instance: Option<InstanceId>, destination: &str) -> Option<Place> {
        let holders = Holder::all(instance, destination);
        let mut held = self.held();
        let has_room = |it: &Holder| held.get(it).copied().unwrap_or_default() < it.most();
        if !holders.iter().all(has_room) {
            return None;
        }
        for holder in &holders {
            *held.entry(holder.clone()).or_default() += 1;
        }
        drop(held);
        Some(Place { of: self.clone(), holders })
    }

    /// Whether nobody at all can have one.
    pub fn are_all_held(&self) -> bool {
        self.held().get(&Holder::Everybody) == Some(&ALL)
    }

    fn held(&self) -> MutexGuard<'_, HashMap<Holder, usize>> {
        self.0.lock().expect("no holder of this lock panics")
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut held = self.of.held();
        for holder in &self.holders {
            if let Some(count) = held.get_mut(holder) {
                *count -= 1;
                if *count == 0 {
                    held.remove(holder);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Takes places until there are no more.
    fn take_all(places: &Places, instance: Option<i64>, destination: &str) -> Vec<Place> {
        let one = || places.take(instance.map(InstanceId), destination);
        std::iter::from_fn(one).collect()
    }

    #[test]
    fn everybody_has_a_part() {
        let places = Places::default();
        let mut held = take_all(&places, Some(1), "a.test:443");
        assert_eq!(held.len(), OF_BOTH);
        for number in 0..100 {
            held.extend(take_all(&places, Some(1), &format!("{number}.test:443")));
        }
        assert_eq!(held.len(), OF_INSTANCE, "an instance with many destinations");
        drop(held);
        assert_eq!(places.held().len(), 0, "nothing is kept of those who are done");

        let mut held = Vec::new();
        for instance in 0..100 {
            held.extend(take_all(&places, Some(instance), "a.test:443"));
        }
        assert_eq!(held.len(), OF_DESTINATION as usize, "a destination of many instances");
        assert!(places.take(Some(InstanceId(1)), "b.test:443").is_some());
        let mails = take_all(&places, None, "email");
        assert_eq!(mails.len(), OF_DESTINATION as usize, "mail that is of no alarm");
        for instance in 0..100 {
            let own = |number: usize| format!("{instance}-{number}.test:443");
            held.extend((0..8).flat_map(|number| take_all(&places, Some(instance), &own(number))));
        }
        assert_eq!((held.len() + mails.len(), places.are_all_held()), (ALL, true));
        drop(mails);
        assert!(!places.are_all_held());
    }
}
