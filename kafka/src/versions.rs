//! The Kafka releases we run, and what differs between them.
//!
//! Every line was tried: a broker of each release was started on the oldest
//! and on the newest Java named here.

use model::KafkaVersion;
use std::ops::RangeInclusive;

/// Which logging library a release is built on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Logging {
    /// `log4j.properties`
    Reload4j,
    /// `log4j2.properties`
    Log4j2,
}

/// When the active controller fences a broker that sends no more heartbeats. The release's
/// default (9 s, 2 s) is how long partitions stay without a leader after a kill, and how long the
/// controller refuses the next process of a broker as a duplicate, even after a clean stop.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Session {
    /// `broker.session.timeout.ms`: a broker that is silent for so long is fenced.
    pub timeout_ms: u32,
    /// `broker.heartbeat.interval.ms`
    pub heartbeat_ms: u32,
}

/// As short as holds on a machine with too little of everything: `server/tests/overload.rs`.
const SHORT_SESSION: Session = Session { timeout_ms: 3_000, heartbeat_ms: 500 };

/// One supported release.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Release {
    pub version: KafkaVersion,
    pub oldest_java: u16,
    pub newest_java: u16,
    pub logging: Logging,
    /// Version of the slf4j binding: for log4j2 that of Kafka's log4j-core.
    pub binding_version: &'static str,
    /// What the release's features are finalised at by default.
    pub metadata_version: &'static str,
    /// `share.coordinator.*` are settings of this release.
    pub share_groups: bool,
    pub session: Session,
    /// `auto.include.jmx.reporter` is a setting of this release, and on.
    pub adds_jmx: bool,
}

impl Release {
    pub fn java(&self) -> RangeInclusive<u16> {
        self.oldest_java..=self.newest_java
    }

    /// Maven group and artifact of the slf4j binding.
    pub fn binding(&self) -> (&'static str, &'static str) {
        match self.logging {
            Logging::Reload4j => ("org.slf4j", "slf4j-reload4j"),
            Logging::Log4j2 => ("org.apache.logging.log4j", "log4j-slf4j-impl"),
        }
    }
}

const fn log4j2(
    version: KafkaVersion,
    binding_version: &'static str,
    metadata_version: &'static str,
) -> Release {
    Release {
        version,
        oldest_java: 17,
        newest_java: 25,
        logging: Logging::Log4j2,
        binding_version,
        metadata_version,
        share_groups: true,
        session: SHORT_SESSION,
        adds_jmx: false,
    }
}

const RELEASES: [Release; 5] = [
    Release {
        version: KafkaVersion::new(3, 9, 2),
        oldest_java: 17,
        newest_java: 25,
        logging: Logging::Reload4j,
        binding_version: "1.7.36",
        metadata_version: "3.9-IV0",
        share_groups: false,
        session: SHORT_SESSION,
        adds_jmx: true,
    },
    log4j2(KafkaVersion::new(4, 0, 2), "2.24.3", "4.0-IV3"),
    log4j2(KafkaVersion::new(4, 1, 2), "2.25.3", "4.1-IV1"),
    log4j2(KafkaVersion::new(4, 2, 1), "2.25.4", "4.2-IV1"),
    log4j2(KafkaVersion::new(4, 3, 1), "2.25.4", "4.3-IV0"),
];

/// All supported releases, oldest first.
pub fn all() -> &'static [Release] {
    &RELEASES
}

/// The release of that version, if it is supported.
pub fn release(version: KafkaVersion) -> Option<&'static Release> {
    RELEASES.iter().find(|release| release.version == version)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_version_on_offer_is_supported() {
        for version in model::Catalogue::built_in().kafka_versions() {
            assert!(release(*version).is_some(), "{version} is offered but not in the table");
        }
    }
}
