//! How long the certificates live that Castellan issues for its own use and renews by
//! itself: those of brokers, of agents and of the agents' listener.
//!
//! Certificates that customers' requests get are not among them: their life is part of
//! the API's contract, and nobody but the customer can renew them.

use crate::SignedDuration;
use serde::Deserialize;
use std::fmt;
use std::str::FromStr;

const MINUTE: i64 = 60;
const HOUR: i64 = 60 * MINUTE;
const DAY: i64 = 24 * HOUR;
/// Renewal begins at two thirds; what is left has to be enough for an agent's round trip.
const SHORTEST: i64 = 2 * MINUTE;
/// More is refused by Apple's platforms, also of private authorities.
const LONGEST: i64 = 825 * DAY;

/// A number of days, hours or minutes, such as `397d`, `36h` or `90m`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Deserialize)]
#[serde(try_from = "String")]
pub struct CertificateLife(SignedDuration);

#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "must be a number of days, hours or minutes such as \"397d\", \"36h\" or \"90m\", \
     from \"2m\" to \"825d\""
)]
pub struct NoCertificateLife;

impl CertificateLife {
    /// From issue to expiry.
    pub fn duration(self) -> SignedDuration {
        self.0
    }

    /// The same for a kind of certificate that never lives longer than `longest`.
    pub fn at_most(self, longest: SignedDuration) -> SignedDuration {
        self.0.min(longest)
    }
}

impl Default for CertificateLife {
    fn default() -> Self {
        Self(SignedDuration::from_secs(397 * DAY))
    }
}

impl FromStr for CertificateLife {
    type Err = NoCertificateLife;

    fn from_str(text: &str) -> Result<Self, NoCertificateLife> {
        let (number, unit) = if let Some(number) = text.strip_suffix('d') {
            (number, DAY)
        } else if let Some(number) = text.strip_suffix('h') {
            (number, HOUR)
        } else {
            (text.strip_suffix('m').ok_or(NoCertificateLife)?, MINUTE)
        };
        let number: u32 = number.parse().map_err(|_| NoCertificateLife)?;
        let seconds = i64::from(number) * unit;
        let fits = (SHORTEST..=LONGEST).contains(&seconds);
        fits.then_some(Self(SignedDuration::from_secs(seconds))).ok_or(NoCertificateLife)
    }
}

impl TryFrom<String> for CertificateLife {
    type Error = NoCertificateLife;
    fn try_from(text: String) -> Result<Self, NoCertificateLife> {
        text.parse()
    }
}

impl fmt::Display for CertificateLife {
    /// In the largest unit that it is a whole number of.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seconds = self.0.as_secs();
        match seconds {
            _ if seconds % DAY == 0 => write!(f, "{}d", seconds / DAY),
            _ if seconds % HOUR == 0 => write!(f, "{}h", seconds / HOUR),
            _ => write!(f, "{}m", seconds / MINUTE),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_life_is_a_number_with_its_unit_within_bounds() {
        let check = |text: &str, expected: Option<i64>| {
            let life = text.parse::<CertificateLife>().ok();
            assert_eq!(life.map(|life| life.duration().as_secs()), expected, "{text:?}");
        };
        check("2m", Some(120));
        check("36h", Some(36 * 3600));
        check("397d", Some(397 * 86_400));
        check("825d", Some(825 * 86_400));
        for bad in ["", "d", "397", "1m", "0d", "-3d", "826d", "4294967296d", "2 m", "1w", "2µ"] {
            check(bad, None);
        }
        assert_eq!(CertificateLife::default().to_string(), "397d");
        assert_eq!("48h".parse::<CertificateLife>().unwrap().to_string(), "2d");
        assert_eq!("90m".parse::<CertificateLife>().unwrap().to_string(), "90m");
    }
}
