//! Where an instance can run.

use serde::{Deserialize, Serialize};
use std::fmt;

/// `<provider>::<region>`, as it stands in the catalogue.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub struct RegionName(pub String);

impl fmt::Display for RegionName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A region on offer, and the cloud that serves it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Region {
    pub provider: String,
    pub region: String,
    /// The display name.
    pub name: String,
    pub has_shared_plans: bool,
    /// The name of the cloud that makes this region's servers.
    pub cloud: String,
}

impl Region {
    pub fn full_name(&self) -> RegionName {
        RegionName(format!("{}::{}", self.provider, self.region))
    }
}
