//! Chance from a seed: the same seed, the same cluster.

pub struct Dice(u64);

impl Dice {
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// From 0 to below this.
    pub fn below(&mut self, limit: u64) -> u64 {
        self.next() % limit.max(1)
    }

    pub fn index(&mut self, limit: usize) -> usize {
        usize::try_from(self.below(limit as u64)).unwrap()
    }

    pub fn percent(&mut self, chance: u64) -> bool {
        self.below(100) < chance
    }

    pub fn pick<T: Clone>(&mut self, from: &[T]) -> Option<T> {
        (!from.is_empty()).then(|| from[self.index(from.len())].clone())
    }

    /// So many different ones, in any order.
    pub fn some<T: Clone>(&mut self, from: &[T], number: usize) -> Vec<T> {
        let mut rest = from.to_vec();
        let number = number.min(rest.len());
        (0..number).map(|_| rest.swap_remove(self.index(rest.len()))).collect()
    }

    /// Few are large and most are small, as topics are.
    pub fn size(&mut self, most: u64) -> u64 {
        most >> self.below(12).min(63) >> self.below(3)
    }
}
