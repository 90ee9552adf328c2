//! The places in which messages are sent.
//!
//! There are so many, and one instance, one destination, and one instance at one
//! destination each hold a part of them at most. However many destinations of an
//! instance hang, and however many instances use one that does, the others have places.

use egress::places;
use model::InstanceId;

const ALL: usize = 128;
const OF_INSTANCE: usize = 16;
/// Also how many messages of one instance to one destination are worth a look.
pub const OF_DESTINATION: u32 = 16;
/// Several instances may use one service, and one of them can make it slow
/// for itself alone.
const OF_BOTH: usize = 4;

/// What messages have in common that hold places together.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Holder {
    Everybody,
    Instance(InstanceId),
    Destination(String),
    Both(InstanceId, String),
}

impl places::Holder for Holder {
    fn most(&self) -> usize {
        match self {
            Self::Everybody => ALL,
            Self::Instance(_) => OF_INSTANCE,
            Self::Destination(_) => OF_DESTINATION as usize,
            Self::Both(..) => OF_BOTH,
        }
    }
}

impl Holder {
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

#[derive(Clone, Default, Debug)]
pub struct Places(places::Places<Holder>);

pub type Place = places::Place<Holder>;

impl Places {
    /// None if another message has to give one back first.
    pub fn take(&self, instance: Option<InstanceId>, destination: &str) -> Option<Place> {
        self.0.take(Holder::all(instance, destination))
    }

    /// Whether no message at all can have one.
    pub fn are_all_held(&self) -> bool {
        self.0.is_full(&Holder::Everybody)
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
        assert!(places.0.are_free(), "nothing is kept of those that are done");

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
