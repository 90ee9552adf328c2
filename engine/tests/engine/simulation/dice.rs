//! Chance from a seed: the same seed, the same schedule.

use model::{Entropy, SeededEntropy};

pub struct Dice(SeededEntropy);

impl Dice {
    pub fn new(seed: u64) -> Self {
        Self(SeededEntropy::new(seed))
    }

    /// A number below `sides`.
    pub fn roll(&self, sides: usize) -> usize {
        let mut bytes = [0; 4];
        self.0.fill(&mut bytes);
        usize::try_from(u32::from_le_bytes(bytes)).expect("usize has 32 bits or more") % sides
    }

    pub fn pick<T: Copy>(&self, from: &[T]) -> Option<T> {
        (!from.is_empty()).then(|| from[self.roll(from.len())])
    }
}
