//! The places in which calls are made at the same time.
//!
//! Each call has several holders, such as all calls, those of one account and those to one
//! destination, and of each holder there are so many places at most. However many calls of
//! one holder hang, the others have places.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Arc, Mutex, MutexGuard};

/// What calls have in common that hold places together.
pub trait Holder: Clone + Eq + Hash {
    /// So many of its calls are made at the same time.
    fn most(&self) -> usize;
}

/// How many places each holder has now.
#[derive(Clone, Debug)]
pub struct Places<H>(Arc<Mutex<HashMap<H, usize>>>);

/// A place; it is free again when this is dropped.
#[derive(Debug)]
pub struct Place<H: Holder> {
    places: Places<H>,
    holders: Vec<H>,
}

impl<H> Default for Places<H> {
    fn default() -> Self {
        Self(Arc::default())
    }
}

impl<H> Places<H> {
    /// Nothing is kept of a holder that has none.
    pub fn are_free(&self) -> bool {
        self.held().is_empty()
    }

    fn held(&self) -> MutexGuard<'_, HashMap<H, usize>> {
        self.0.lock().expect("no holder of this lock panics")
    }
}

impl<H: Holder> Places<H> {
    /// None if one of these holders has no place left.
    pub fn take(&self, holders: Vec<H>) -> Option<Place<H>> {
        let mut held = self.held();
        let has_room = |it: &H| held.get(it).copied().unwrap_or_default() < it.most();
        if !holders.iter().all(has_room) {
            return None;
        }
        for holder in &holders {
            *held.entry(holder.clone()).or_default() += 1;
        }
        drop(held);
        Some(Place { places: self.clone(), holders })
    }

    /// Whether this holder has no place left.
    pub fn is_full(&self, holder: &H) -> bool {
        self.held().get(holder).is_some_and(|held| *held >= holder.most())
    }
}

impl<H: Holder> Drop for Place<H> {
    fn drop(&mut self) {
        let mut held = self.places.held();
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

    #[derive(Clone, PartialEq, Eq, Hash, Debug)]
    enum Caller {
        Any,
        Named(&'static str),
    }

    impl Holder for Caller {
        fn most(&self) -> usize {
            match self {
                Self::Any => 3,
                Self::Named(_) => 2,
            }
        }
    }

    #[test]
    fn each_holder_has_its_part_until_places_are_given_back() {
        let places = Places::default();
        let take = |name| places.take(vec![Caller::Any, Caller::Named(name)]);
        let (one, two) = (take("a"), take("a"));
        assert!(one.is_some() && two.is_some());
        assert!(take("a").is_none(), "it has its part");
        let other = take("b");
        assert!(other.is_some() && places.is_full(&Caller::Any));
        assert!(take("b").is_none(), "there are no more");
        drop(one);
        assert!(!places.is_full(&Caller::Any), "what was refused held nothing");
        drop((two, other));
        assert!(places.are_free());
    }
}
