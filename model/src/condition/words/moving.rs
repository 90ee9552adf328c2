//! Words for servers that join and leave, and for replicas that move.

use crate::condition::{Joining, MoveObstacle, Moving, Place, Voting};
use std::fmt;

impl fmt::Display for Joining {
    /// Completes "the server has come up, but …".
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Registration => "its broker is not registered yet",
            Self::Unfencing => "its broker is not let serve yet",
            Self::Metadata => "its controller does not have all metadata yet",
        })
    }
}

impl fmt::Display for Voting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Leader => f.write_str("no controller is active"),
            Self::Majority { left, of, lagging } => write!(
                f,
                "{left} of {of} controllers that would vote have all metadata, without {}",
                places(lagging)
            ),
            Self::OneOfTwo { lagging } => write!(
                f,
                "two controllers vote, and that of {lagging} is down or lags: nothing can be \
                 changed before it is back"
            ),
        }
    }
}

impl fmt::Display for Moving {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { partitions, bytes_done, bytes_left, ready_at } = self;
        write!(f, "replicas move: {} done, {} left", Bytes(*bytes_done), Bytes(*bytes_left))?;
        if *partitions > 0 {
            let s = if *partitions == 1 { "" } else { "s" };
            write!(f, ", {partitions} partition{s} under way")?;
        }
        match ready_at {
            Some(at) => write!(f, ", done at about {}", at.strftime("%Y-%m-%d %H:%M:%S UTC")),
            None => Ok(()),
        }
    }
}

impl fmt::Display for MoveObstacle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnderWay { partition } => write!(f, "replicas of {partition} still move"),
            Self::Stalled { partition, places: all, minutes } => {
                write!(f, "replicas of {partition} have not got on for {minutes} minutes")?;
                if all.is_empty() { Ok(()) } else { write!(f, " on {}", places(all)) }
            }
            Self::NoLeader { partition } => write!(f, "{partition} has no leader"),
            Self::StaleElr { partition, nodes } => {
                write!(f, "the ELR of {partition} names {nodes:?}, which have no replica of it")
            }
            Self::Lagging { partition, places: lagging } => {
                write!(f, "the replica of {partition} on {} lags", places(lagging))
            }
            Self::BelowMinIsr { partition, replicas, min_isr } => write!(
                f,
                "{partition} would have {replicas} replicas in sync, below its min ISR of {min_isr}"
            ),
            Self::Unreachable { place } => write!(f, "the broker of {place} is unreachable"),
            Self::NoRoom { partition, place, bytes } => {
                write!(f, "{place} has no room for {partition} yet, which has {}", Bytes(*bytes))
            }
            Self::TooManyReplicas { topic, replicas, staying, may_cancel } => {
                write!(f, "topic {topic} has {replicas} replicas and {staying} servers remain: ")?;
                f.write_str(if *may_cancel {
                    "give it fewer replicas, delete it, or cancel"
                } else {
                    "give it fewer replicas, or delete it"
                })
            }
            Self::DisksTooSmall { moving, unplaced, may_cancel } => {
                let (moving, unplaced) = (Bytes(*moving), Bytes(*unplaced));
                write!(f, "{moving} have to move and there is no room for {unplaced} of it: ")?;
                f.write_str(if *may_cancel {
                    "delete data, give servers larger disks, or cancel"
                } else {
                    "delete data, or give servers larger disks"
                })
            }
            Self::SingleCopy => f.write_str("one server would remain, which was not agreed to"),
            Self::NoServerStays => f.write_str("no server would remain"),
        }
    }
}

fn places(all: &[Place]) -> String {
    all.iter().map(ToString::to_string).collect::<Vec<_>>().join(" and ")
}

/// Bytes for people.
struct Bytes(u64);

impl fmt::Display for Bytes {
    #[expect(clippy::cast_precision_loss, reason = "one decimal is shown")]
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            0..1_000_000 => write!(f, "{} bytes", self.0),
            1_000_000..1_000_000_000 => write!(f, "{:.1} MB", self.0 as f64 / 1e6),
            _ => write!(f, "{:.1} GB", self.0 as f64 / 1e9),
        }
    }
}
