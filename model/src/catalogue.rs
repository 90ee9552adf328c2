//! Plans, regions and Kafka versions on offer: data in one file that an
//! operator can replace.

use crate::{Family, KafkaVersion, Plan, PlanName, Region, RegionName};
use serde::Deserialize;

const BUILT_IN: &str = include_str!("../catalogue.toml");

/// Why a catalogue file is refused.
#[derive(Debug, thiserror::Error)]
pub enum CatalogueError {
    #[error("{0}")]
    Syntax(#[from] toml::de::Error),
    #[error("no Kafka version is listed under kafka_versions")]
    NoVersion,
    #[error("two plans are called {0}")]
    DuplicatePlan(PlanName),
    #[error("two regions are called {0}")]
    DuplicateRegion(RegionName),
    #[error("family {0} needs at least one node count under nodes")]
    NoNodes(String),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    kafka_versions: Vec<KafkaVersion>,
    family: Vec<Family>,
    region: Vec<Region>,
}

/// What this installation offers.
#[derive(Clone, Debug)]
pub struct Catalogue {
    plans: Vec<Plan>,
    regions: Vec<Region>,
    versions: Vec<KafkaVersion>,
}

impl Catalogue {
    /// What Castellan offers out of the box.
    pub fn built_in() -> Self {
        Self::parse(BUILT_IN).expect("the built-in catalogue is tested")
    }

    pub fn parse(text: &str) -> Result<Self, CatalogueError> {
        let mut file: File = toml::from_str(text)?;
        if file.kafka_versions.is_empty() {
            return Err(CatalogueError::NoVersion);
        }
        file.kafka_versions.sort_unstable();
        file.kafka_versions.dedup();
        Ok(Self {
            plans: plans(file.family)?,
            regions: regions(file.region)?,
            versions: file.kafka_versions,
        })
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

fn plans(families: Vec<Family>) -> Result<Vec<Plan>, CatalogueError> {
    let mut plans: Vec<Plan> = Vec::new();
    for family in families {
        let counts = if family.shared { vec![1] } else { family.nodes.clone() };
        if counts.is_empty() {
            return Err(CatalogueError::NoNodes(family.name));
        }
        for nodes in counts {
            let name = if family.shared {
                PlanName(family.name.clone())
            } else {
                PlanName(format!("{}-{nodes}", family.name))
            };
            if plans.iter().any(|plan| plan.name == name) {
                return Err(CatalogueError::DuplicatePlan(name));
            }
            plans.push(Plan { name, family: family.clone(), nodes });
        }
    }
    plans.sort_by(|a, b| (a.price(), &a.name.0).cmp(&(b.price(), &b.name.0)));
    Ok(plans)
}

fn regions(mut regions: Vec<Region>) -> Result<Vec<Region>, CatalogueError> {
    regions.sort_by(|a, b| (&a.provider, &a.region).cmp(&(&b.provider, &b.region)));
    match regions.windows(2).find(|pair| pair[0].full_name() == pair[1].full_name()) {
        Some(pair) => Err(CatalogueError::DuplicateRegion(pair[0].full_name())),
        None => Ok(regions),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_built_in_catalogue_is_the_contracts() {
        let catalogue = Catalogue::built_in();
        assert_eq!(catalogue.plans().len(), 21);
        assert_eq!(catalogue.plan("mouse-3").unwrap().price(), 297);
        assert_eq!(catalogue.plan("penguin-7").unwrap().price(), 10_500);
        assert!(catalogue.plan("ducky").unwrap().shared());
        assert_eq!(catalogue.plans()[0].name.0, "ducky");
        assert_eq!(catalogue.plan_of("bat", 5).unwrap().name.0, "bat-5");
        assert_eq!(catalogue.regions().len(), 4);
        assert!(catalogue.region("local::this-machine").is_some());
        assert_eq!(catalogue.newest_kafka(), KafkaVersion::new(4, 3, 1));
    }

    #[test]
    fn a_bad_file_is_refused_with_its_reason() {
        let check = |text: &str, expected: &str| {
            let error = Catalogue::parse(text).unwrap_err().to_string();
            assert!(error.contains(expected), "{error}");
        };
        check("kafka_versions = []\nfamily = []\nregion = []", "no Kafka version");
        check("kafka_versions = [\"4.x\"]\nfamily = []\nregion = []", "line 1");
        check("kafka_versions = [\"4.3.1\"]\nfamily = []", "region");
    }
}
