//! What is measured of every server: a fixed list.
//!
//! A new series is added at the end; what agents and histories name a series by
//! is its name, never its place.

use crate::{ServerId, Timestamp};
use std::fmt;
use std::str::FromStr;
use std::time::Duration;

/// Between the samples of a server; every sample is of a multiple of it.
pub const SAMPLE_SECONDS: i64 = 10;
/// The samples of a fleet come spread over so much of that, and then for a while none:
/// what a sample is of is told that much later at most.
const TURNS_MS: i64 = 4000;

/// From now until a server is measured next. The servers of a fleet have their turns.
pub fn until_sample(server: ServerId, now: Timestamp) -> Duration {
    let period = SAMPLE_SECONDS * 1000;
    let turn = server.0.wrapping_mul(1009).rem_euclid(TURNS_MS);
    let into = (now.as_millisecond() - turn).rem_euclid(period);
    Duration::from_millis((period - into).unsigned_abs())
}

macro_rules! series {
    (
        $(#[$about:meta])* $list:ident:
        $($(#[$doc:meta])* $variant:ident = $name:literal, $unit:literal;)*
    ) => {
        $(#[$about])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        pub enum $list {
            $($(#[$doc])* $variant,)*
        }

        impl $list {
            pub const ALL: &[Self] = &[$(Self::$variant,)*];

            pub fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }

            /// What it counts, for people and for axes.
            pub fn unit(self) -> &'static str {
                match self { $(Self::$variant => $unit,)* }
            }
        }

        impl fmt::Display for $list {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(self.as_str())
            }
        }

        impl FromStr for $list {
            type Err = UnknownSeries;

            fn from_str(text: &str) -> Result<Self, UnknownSeries> {
                let found = Self::ALL.iter().find(|series| series.as_str() == text);
                found.copied().ok_or(UnknownSeries)
            }
        }
    };
}

series! {
    /// One number of one server over time.
    Series:
    /// Of the cores that the plan gives.
    Cpu = "cpu_percent", "%";
    /// Resident, of the memory that the plan gives.
    Memory = "memory_percent", "%";
    DiskUsed = "disk_used_bytes", "B";
    DiskFree = "disk_free_bytes", "B";
    DiskRead = "disk_read_bytes_per_second", "B/s";
    DiskWritten = "disk_written_bytes_per_second", "B/s";
    NetworkIn = "network_in_bytes_per_second", "B/s";
    NetworkOut = "network_out_bytes_per_second", "B/s";
    BytesIn = "bytes_in_per_second", "B/s";
    BytesOut = "bytes_out_per_second", "B/s";
    MessagesIn = "messages_in_per_second", "1/s";
    ProduceP50 = "produce_p50_ms", "ms";
    ProduceP99 = "produce_p99_ms", "ms";
    FetchP50 = "fetch_p50_ms", "ms";
    FetchP99 = "fetch_p99_ms", "ms";
    UnderReplicated = "under_replicated_partitions", "partitions";
    UnderMinIsr = "under_min_isr_partitions", "partitions";
    /// As the active controller counts; absent on the others.
    OfflinePartitions = "offline_partitions", "partitions";
    /// Of the threads that answer requests.
    RequestIdle = "request_idle_percent", "%";
    IsrShrinks = "isr_shrinks_per_second", "1/s";
    IsrExpands = "isr_expands_per_second", "1/s";
    LogSize = "log_size_bytes", "B";
    Connections = "connections", "connections";
    FailedLogins = "failed_logins_per_second", "1/s";
    HeapUsed = "heap_used_bytes", "B";
    HeapMax = "heap_max_bytes", "B";
    /// Share of time that collections took.
    GcTime = "gc_percent", "%";
    /// Until the first of the server's certificates expires.
    CertificateDays = "certificate_days_left", "days";
    /// 1 on the leader of the quorum, 0 on its other members.
    QuorumLeader = "quorum_leader", "";
    Partitions = "partitions", "partitions";
    Leaders = "leaders", "partitions";
    /// As measured, whatever the plan gives.
    CpuCores = "cpu_cores", "cores";
    MemoryUsed = "memory_used_bytes", "B";
    /// Of the file system that the server's disk is on, which others may share.
    FileSystemFree = "file_system_free_bytes", "B";
    /// Topics that are not sampled by name, because others are busier.
    TopicsLeftOut = "topics_left_out", "topics";
    /// Of the whole cluster, and told of its first server.
    GroupsLeftOut = "groups_left_out", "groups";
    FileSystemSize = "file_system_size_bytes", "B";
    /// Of the disk that the plan gives, or of what its file system could give if
    /// that is less.
    DiskFull = "disk_full_percent", "%";
    /// Of the server's logs, what destinations have taken.
    LogEventsSent = "log_events_sent_per_second", "1/s";
    /// What a destination never gets: there was no room to keep it any longer, or it was
    /// refused.
    LogEventsDropped = "log_events_dropped_per_second", "1/s";
    /// Those that the server's logs don't arrive at now.
    LogDestinationsFailing = "log_destinations_failing", "destinations";
}

series! {
    /// One number of one topic on one server, for the busiest topics.
    TopicSeries:
    BytesIn = "topic_bytes_in_per_second", "B/s";
    BytesOut = "topic_bytes_out_per_second", "B/s";
    MessagesIn = "topic_messages_in_per_second", "1/s";
    LogSize = "topic_log_size_bytes", "B";
}

series! {
    /// One number of one consumer group, for those that are the furthest behind.
    /// They are of the cluster, and told of its first server.
    GroupSeries:
    Lag = "group_lag_messages", "messages";
    /// How old the next message is that it would read.
    LagSeconds = "group_lag_seconds", "s";
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("it is no series this Castellan measures")]
pub struct UnknownSeries;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn servers_take_turns_early_in_the_ten_seconds() {
        let turn = |id, now: &str| until_sample(ServerId(id), now.parse().unwrap());
        let mut seconds = [0; 4];
        for id in 1..=3000 {
            let wait = turn(id, "2026-01-01T00:00:10Z");
            let into = wait.as_millis() % 10_000;
            seconds[usize::try_from(into / 1000).unwrap()] += 1;
            assert!(!wait.is_zero() && wait.as_secs() <= 10, "{id} waits {wait:?}");
        }
        assert!(seconds.iter().all(|servers| (700..800).contains(servers)), "{seconds:?}");
        // Whose turn it is now has its next one after the whole time.
        assert_eq!(turn(1, "2026-01-01T00:00:01.009Z"), Duration::from_secs(10));
        assert_eq!(turn(1, "2026-01-01T00:00:01.008Z"), Duration::from_millis(1));
    }
}
