//! How uneven brokers may be. Within the band nothing moves, so that a small imbalance costs
//! nothing and a plan that was carried out is the end of it.

use crate::layout::signed;

/// From the least to the most that a broker should have, both included. A value may be negative
/// where it is counted from a broker's share.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Band {
    pub low: i64,
    pub high: i64,
}

impl Band {
    /// So many percent of the mean up and down, and at least the whole numbers next to it.
    pub fn around_mean(values: &[u64], percent: u64) -> Self {
        let number = (values.len() as u64).max(1);
        let total: u64 = values.iter().sum();
        let slack = u128::from(total) * u128::from(percent) / 100 / u128::from(number);
        let slack = i64::try_from(slack).unwrap_or(i64::MAX);
        let (below, above) = (signed(total / number), signed(total.div_ceil(number)));
        Self { low: (above - slack).min(below), high: below.saturating_add(slack).max(above) }
    }

    pub fn has(self, value: i64) -> bool {
        (self.low..=self.high).contains(&value)
    }

    /// Whether it is worth it to take an amount from one broker to another: the one that gets
    /// it does not end up with more than the giver keeps, or within the band. A giver gets
    /// below the band only if it was above.
    pub fn is_gain(self, from: i64, to: i64, amount: i64) -> bool {
        let (left, grown) = (from - amount, to + amount);
        let is_enough = left >= self.low || (from > self.high && grown <= left);
        amount > 0 && grown < from && is_enough && (grown <= left || grown <= self.high)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_band_is_the_mean_and_a_little_more() {
        let check = |values: &[u64], percent, low, high| {
            assert_eq!(Band::around_mean(values, percent), Band { low, high }, "{values:?}");
        };
        check(&[100, 100, 100], 5, 95, 105);
        check(&[300, 0, 0], 5, 95, 105);
        // Of few things each broker should have its share, rounded.
        check(&[3, 0, 0], 5, 1, 1);
        check(&[6, 0, 0, 0, 0], 5, 1, 2);
        check(&[0, 0], 5, 0, 0);
        check(&[], 5, 0, 0);
    }

    #[test]
    fn nothing_moves_to_and_fro() {
        let band = Band { low: 95, high: 105 };
        let check = |from, to, amount, expected| {
            assert_eq!(band.is_gain(from, to, amount), expected, "{amount} from {from} to {to}");
        };
        check(200, 0, 100, true);
        check(200, 0, 101, true);
        check(110, 90, 10, true);
        check(110, 90, 20, false);
        check(110, 90, 0, false);
        // Roles would be swapped.
        check(110, 50, 60, false);
        // Above the band on both sides, and still better than before.
        check(400, 110, 100, true);
    }
}
