//! Plans, regions and Kafka versions on offer: data in one file that an
//! operator can replace.

mod file;
#[cfg(test)]
mod tests;

use crate::{DiskOffer, KafkaVersion, Plan, Region};

/// Why a catalogue file is refused: a reason, and the line it is about.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("line {line}: {reason}")]
pub struct CatalogueError {
    pub line: usize,
    pub reason: String,
}

/// What this program can offer at all.
#[derive(Clone, Debug)]
pub struct Supported<'a> {
    /// Names of clouds that regions may be bound to.
    pub clouds: &'a [&'a str],
    pub kafka_versions: &'a [KafkaVersion],
}

/// What this installation offers.
#[derive(Clone, Debug)]
pub struct Catalogue {
    plans: Vec<Plan>,
    regions: Vec<Region>,
    versions: Vec<KafkaVersion>,
}

impl Catalogue {
    /// The file that is used where the operator names none.
    pub const BUILT_IN: &'static str = include_str!("../catalogue.toml");

    /// What Castellan offers out of the box.
    pub fn built_in() -> Self {
        Self::parse(Self::BUILT_IN, None).expect("the built-in catalogue is tested")
    }

    /// Reads a file, and refuses what is not supported, if that is known.
    pub fn parse(text: &str, supported: Option<&Supported>) -> Result<Self, CatalogueError> {
        file::parse(text, supported)
    }

    /// Plans by price, then name.
    pub fn plans(&self) -> &[Plan] {
        &self.plans
    }

    pub fn plan(&self, name: &str) -> Option<&Plan> {
        self.plans.iter().find(|plan| plan.name.0 == name)
    }

    /// The plan of this family with that many nodes.
    pub fn plan_of(&self, family: &str, nodes: u32) -> Option<&Plan> {
        self.plans.iter().find(|plan| plan.family.name == family && plan.nodes == nodes)
    }

    /// Disk beyond that of the plans.
    pub fn disk(&self) -> DiskOffer {
        self.plans.first().expect("a catalogue without a plan is refused").disk
    }

    /// Regions by provider, then region.
    pub fn regions(&self) -> &[Region] {
        &self.regions
    }

    pub fn region(&self, full_name: &str) -> Option<&Region> {
        self.regions.iter().find(|region| region.full_name().0 == full_name)
    }

    /// Supported Kafka versions, oldest first.
    pub fn kafka_versions(&self) -> &[KafkaVersion] {
        &self.versions
    }

    pub fn newest_kafka(&self) -> KafkaVersion {
        *self.versions.last().expect("a catalogue without a version is refused")
    }
}
