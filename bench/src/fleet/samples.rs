//! Numbers as a server with some load measures them: most move with every sample, a
//! few once a minute or never. The same server has the same number at the same time.

use model::Series;
use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher as _};
use wire::metrics::{Sample, TopicSample};

/// What agents look at once a minute: disks and topics.
const SLOWLY: i64 = 60;
pub const TOPICS: u32 = 10;
/// Of the one core that the plan gives: beyond every alarm.
const HOT: f32 = 0.97;

pub struct Meter {
    pub server: i64,
    /// It leads the quorum.
    pub leads: bool,
}

impl Meter {
    /// What is measured at a time, on a server that has too much to do or not.
    pub fn sample(&self, at: i64, hot: bool) -> Sample {
        let value = |series: &Series| {
            let found = if hot && *series == Series::CpuCores {
                Some(HOT)
            } else {
                self.value(*series, at)
            };
            Some((series.to_string(), found?))
        };
        let topics = if at.rem_euclid(SLOWLY) == 0 {
            (0..TOPICS).map(|number| (format!("topic-{number}"), self.topic(number, at))).collect()
        } else {
            BTreeMap::new()
        };
        Sample { at, values: Series::ALL.iter().filter_map(value).collect(), topics }
    }

    fn value(&self, series: Series, at: i64) -> Option<f32> {
        use Series as S;
        let about = |middle: f32| self.about(middle, series, at);
        let slowly = |middle: f32| self.about(middle, series, at - at.rem_euclid(SLOWLY));
        Some(match series {
            // The control plane makes these of the others, or asks the cluster itself; and no
            // logs are sent anywhere.
            S::Cpu
            | S::Memory
            | S::DiskFree
            | S::DiskFull
            | S::GroupsLeftOut
            | S::LogEventsSent
            | S::LogEventsDropped
            | S::LogDestinationsFailing => return None,
            S::OfflinePartitions if !self.leads => return None,
            S::OfflinePartitions
            | S::UnderReplicated
            | S::UnderMinIsr
            | S::IsrShrinks
            | S::IsrExpands
            | S::FailedLogins
            | S::TopicsLeftOut => 0.0,
            S::QuorumLeader => f32::from(u8::from(self.leads)),
            S::CpuCores => about(0.3),
            S::MemoryUsed => about(9.0e8),
            S::DiskUsed | S::LogSize => slowly(4.0e9),
            S::FileSystemFree => slowly(2.0e10),
            S::FileSystemSize => 2.6e10,
            S::DiskRead => about(2.0e4),
            S::DiskWritten => about(3.0e6),
            S::NetworkIn | S::NetworkOut => about(4.0e6),
            S::BytesIn | S::BytesOut => about(2.0e6),
            S::MessagesIn => about(4000.0),
            S::ProduceP50 | S::FetchP50 => about(1.5),
            S::ProduceP99 | S::FetchP99 => about(12.0),
            S::RequestIdle => about(75.0),
            S::HeapUsed => about(4.0e8),
            S::HeapMax => 1.0e9,
            S::GcTime => about(0.4),
            S::Connections => 24.0,
            S::CertificateDays => 300.0,
            S::Partitions => 90.0,
            S::Leaders => 30.0,
        })
    }

    fn topic(&self, number: u32, at: i64) -> TopicSample {
        let about = |middle: f32, what: &str| self.about(middle, (number, what), at);
        TopicSample {
            bytes_in: about(2.0e5, "in"),
            bytes_out: about(2.0e5, "out"),
            messages_in: about(400.0, "messages"),
            size: about(4.0e8, "size"),
        }
    }

    /// A quarter more or less.
    fn about(&self, middle: f32, what: impl Hash, at: i64) -> f32 {
        let mut hasher = DefaultHasher::new();
        (self.server, what, at).hash(&mut hasher);
        let chance = u16::try_from(hasher.finish() >> 48).unwrap_or_default();
        middle * (0.75 + f32::from(chance) / 131_072.0)
    }
}
