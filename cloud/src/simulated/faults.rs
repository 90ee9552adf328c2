//! What goes wrong next in a simulated cloud.
//!
//! A script comes before chance. The same seed gives the same faults.

use model::{Entropy, SeededEntropy};
use std::collections::{BTreeMap, VecDeque};

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Call {
    TakeOver,
    EnsureNetwork,
    EnsureDisk,
    EnsureServer,
    RemoveServer,
    RemoveDisk,
    ApplyFirewall,
    RemoveNetwork,
    Retire,
    Inventory,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fault {
    /// Nothing is done yet.
    Pending,
    /// Nothing is done; the same call may succeed later.
    Retry,
    /// Nothing is done, and a person is needed.
    GiveUp,
    /// Everything is done, but the caller hears of a failure.
    LostReply,
}

#[derive(Debug, Default)]
pub(super) struct Faults {
    script: BTreeMap<Call, VecDeque<Fault>>,
    chance: Option<(SeededEntropy, u8)>,
}

impl Faults {
    pub(super) fn seeded(seed: u64, percent: u8) -> Self {
        Self { script: BTreeMap::new(), chance: Some((SeededEntropy::new(seed), percent)) }
    }

    pub(super) fn script(&mut self, call: Call, fault: Fault, times: usize) {
        self.script.entry(call).or_default().extend(std::iter::repeat_n(fault, times));
    }

    pub(super) fn next(&mut self, call: Call) -> Option<Fault> {
        if let Some(fault) = self.script.get_mut(&call).and_then(VecDeque::pop_front) {
            return Some(fault);
        }
        let (entropy, percent) = self.chance.as_ref()?;
        let mut dice = [0; 2];
        entropy.fill(&mut dice);
        if u16::from(dice[0]) * 100 >= u16::from(*percent) * 256 {
            return None;
        }
        Some([Fault::Pending, Fault::Retry, Fault::LostReply][usize::from(dice[1]) % 3])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_script_comes_first_and_ends() {
        let mut faults = Faults::default();
        faults.script(Call::EnsureDisk, Fault::Pending, 2);
        faults.script(Call::EnsureDisk, Fault::GiveUp, 1);
        let seen: Vec<_> = (0..4).map(|_| faults.next(Call::EnsureDisk)).collect();
        let expected = [Some(Fault::Pending), Some(Fault::Pending), Some(Fault::GiveUp), None];
        assert_eq!(seen, expected);
        assert_eq!(faults.next(Call::EnsureServer), None);
    }

    #[test]
    fn chance_repeats_with_its_seed_and_never_gives_up() {
        let draw = |seed| {
            let mut faults = Faults::seeded(seed, 50);
            (0..200).map(|_| faults.next(Call::EnsureServer)).collect::<Vec<_>>()
        };
        assert_eq!(draw(3), draw(3));
        assert_ne!(draw(3), draw(4));
        assert!(!draw(3).contains(&Some(Fault::GiveUp)));
        let faults = draw(3).iter().flatten().count();
        assert!((60..140).contains(&faults), "{faults} of 200 at 50 percent");
    }
}
