//! Money: whole cents of US dollars. There are no fractions of them and no
//! floating point anywhere before the edge.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::iter::Sum;

/// What every price and amount is in.
pub const CURRENCY: &str = "USD";

#[derive(
    Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Cents(pub i64);

impl Cents {
    /// What `part` of `whole` costs if this is for the whole, half up to a
    /// cent. Neither is negative, and a part is never more than its whole.
    #[must_use]
    pub fn share(self, part: i64, whole: i64) -> Self {
        let (price, part, whole) = (i128::from(self.0), i128::from(part), i128::from(whole));
        let rounded = (2 * price * part + whole) / (2 * whole.max(1));
        Self(i64::try_from(rounded).unwrap_or(i64::MAX))
    }
}

/// Stays at what a number can hold, which no sum of prices reaches.
impl Sum for Cents {
    fn sum<I: Iterator<Item = Self>>(amounts: I) -> Self {
        Self(amounts.fold(0, |sum, amount| sum.saturating_add(amount.0)))
    }
}

/// For people: `73.50`.
impl fmt::Display for Cents {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.0 < 0 { "-" } else { "" };
        let cents = self.0.unsigned_abs();
        write!(f, "{sign}{}.{:02}", cents / 100, cents % 100)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_is_rounded_half_up() {
        let check = |price, part, whole, expected| {
            assert_eq!(Cents(price).share(part, whole), Cents(expected), "{price} {part}/{whole}");
        };
        check(9900, 2_592_000, 2_592_000, 9900);
        check(9900, 1_296_000, 2_592_000, 4950);
        check(1, 1, 2, 1);
        check(1, 49, 100, 0);
        check(3, 1, 2, 2);
        check(9900, 130, 2_592_000, 0);
        check(9900, 131, 2_592_000, 1);
        check(0, 5, 10, 0);
        check(i64::MAX, 2_678_400, 2_678_400, i64::MAX);
    }

    #[test]
    fn cents_read_as_dollars() {
        let check = |cents, expected: &str| assert_eq!(Cents(cents).to_string(), expected);
        check(7350, "73.50");
        check(5, "0.05");
        check(-110, "-1.10");
        check(i64::MIN, "-92233720368547758.08");
    }
}
