//! A disk that is nearly full, and how far what is done about it goes.

use crate::{InstanceId, ServerId, Timestamp, words};
use serde::{Deserialize, Serialize};

/// Percent of the disk from which on people are told.
const HIGH: f64 = 90.0;
/// From which on producers are slowed down.
const SLOW: f64 = 95.0;
/// A level is over when the disk is emptier by so much: on the edge nothing flaps.
const BACK: f64 = 2.0;

/// What the producers of a user get of a broker then, all client ids together: 64 KiB, but as
/// a number that nobody else chooses, so that a limit of ours is known as such.
pub const SLOW_BYTES_PER_SECOND: f64 = 65_521.0;

words! {
    #[derive(PartialOrd, Ord)]
    pub enum DiskLevel {
        /// People have been told.
        High = "high",
        /// Producers are slowed down, too.
        Slowed = "slowed",
    }
}

impl DiskLevel {
    /// Where a disk that is so full stands, after it stood there.
    pub fn after(before: Option<Self>, percent: f64) -> Option<Self> {
        [Self::Slowed, Self::High].into_iter().find(|level| {
            let (from, below) = level.percents();
            percent >= if before >= Some(*level) { below } else { from }
        })
    }

    /// Percent of the disk at which it begins, and below which it is over.
    pub fn percents(self) -> (f64, f64) {
        let from = match self {
            Self::High => HIGH,
            Self::Slowed => SLOW,
        };
        (from, from - BACK)
    }
}

/// A server's disk that is nearly full.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DiskGuard {
    pub instance_id: InstanceId,
    pub server_id: ServerId,
    pub level: DiskLevel,
    /// The time of the sample that said so.
    pub since: Timestamp,
}

/// What producers had before they were slowed down, to be put back.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct SlowedQuota {
    /// `<default>`: whoever has none of his own.
    pub user: String,
    /// None: the user's limit for all client ids together.
    pub client_id: Option<String>,
    /// None: there was no limit.
    pub producer_byte_rate: Option<f64>,
    /// Whether Kafka has taken our limit in its place; of what is written down before Kafka
    /// is told, nobody knows.
    #[serde(default)]
    pub is_set: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_begin_at_their_percent_and_end_below_it() {
        use DiskLevel::{High, Slowed};
        let check = |before, percent, expected| {
            assert_eq!(DiskLevel::after(before, percent), expected, "{before:?} {percent}");
        };
        check(None, 0.0, None);
        check(None, 89.9, None);
        check(None, 90.0, Some(High));
        check(None, 95.0, Some(Slowed));
        check(None, 100.0, Some(Slowed));
        check(Some(High), 88.0, Some(High));
        check(Some(High), 87.9, None);
        check(Some(High), 94.9, Some(High));
        check(Some(High), 95.0, Some(Slowed));
        check(Some(Slowed), 93.0, Some(Slowed));
        check(Some(Slowed), 92.9, Some(High));
        check(Some(Slowed), 88.0, Some(High));
        check(Some(Slowed), 10.0, None);
        check(Some(High), f64::NAN, None);
    }

    #[test]
    fn names_are_read_back() {
        for level in [DiskLevel::High, DiskLevel::Slowed] {
            assert_eq!(level.to_string().parse(), Ok(level));
        }
        let unknown = "full".parse::<DiskLevel>().unwrap_err();
        assert_eq!(unknown.to_string(), "must be one of high, slowed");
    }
}
