//! A released version of Apache Kafka.

use crate::words::written_as_text;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// `X.Y.Z`, ordered as releases are.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct KafkaVersion {
    pub major: u16,
    pub minor: u16,
    pub patch: u16,
}

impl KafkaVersion {
    pub const fn new(major: u16, minor: u16, patch: u16) -> Self {
        Self { major, minor, patch }
    }
}

#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("must be a version of the form X.Y.Z")]
pub struct VersionError;

impl FromStr for KafkaVersion {
    type Err = VersionError;
    fn from_str(text: &str) -> Result<Self, VersionError> {
        let version: semver::Version = text.parse().map_err(|_| VersionError)?;
        if !version.pre.is_empty() || !version.build.is_empty() {
            return Err(VersionError);
        }
        let part = |number: u64| u16::try_from(number).map_err(|_| VersionError);
        Ok(Self::new(part(version.major)?, part(version.minor)?, part(version.patch)?))
    }
}

written_as_text!(KafkaVersion);

impl fmt::Display for KafkaVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.major, self.minor, self.patch)
    }
}
