//! Reading the catalogue's file. Everything that could go wrong later goes wrong
//! here, with the line it stands on.

use super::{Catalogue, CatalogueError, Supported};
use crate::{DiskOffer, Family, KafkaVersion, Plan, PlanName, Region};
use serde::Deserialize;
use std::fmt::Display;
use std::ops::RangeInclusive;
use toml::Spanned;

/// Server names have two digits.
const NODES: RangeInclusive<u32> = 1..=99;
const PRICE: RangeInclusive<u32> = 0..=1_000_000;
/// Of cores, gigabytes of memory and gigabytes of disk.
const SIZE: RangeInclusive<u32> = 1..=1_000_000;

/// Replicas of partitions on a node whose family does not say: half of the memory is heap, and
/// more than this many take a broker minutes to start.
const PARTITIONS_PER_GB: u32 = 500;
const MOST_PARTITIONS: u32 = 4000;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    kafka_versions: Spanned<Vec<Spanned<KafkaVersion>>>,
    extra_disk_gb_cents: Spanned<u32>,
    max_disk_gb: Spanned<u32>,
    #[serde(default)]
    family: Vec<FileFamily>,
    #[serde(default)]
    region: Vec<FileRegion>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FileFamily {
    name: Spanned<String>,
    node_price: Spanned<u32>,
    cores: Spanned<u32>,
    memory_gb: Spanned<u32>,
    disk_gb: Spanned<u32>,
    partitions: Option<Spanned<u32>>,
    #[serde(default)]
    nodes: Vec<Spanned<u32>>,
    #[serde(default)]
    shared: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FileRegion {
    provider: Spanned<String>,
    region: Spanned<String>,
    name: String,
    has_shared_plans: bool,
    cloud: Spanned<String>,
}

pub fn parse(text: &str, supported: Option<&Supported>) -> Result<Catalogue, CatalogueError> {
    let lines = Lines(text);
    let file: File = toml::from_str(text).map_err(|error| {
        let at = error.span().map_or(text.len(), |span| span.start);
        lines.error(at, error.message().trim().replace('\n', " "))
    })?;
    Ok(Catalogue {
        versions: versions(&lines, &file.kafka_versions, supported)?,
        plans: plans(&lines, &file.family, disk(&lines, &file)?)?,
        regions: regions(&lines, &file.region, supported)?,
    })
}

/// Where things stand.
struct Lines<'a>(&'a str);

impl Lines<'_> {
    fn error(&self, at: usize, reason: impl Into<String>) -> CatalogueError {
        let before = self.0.as_bytes().iter().take(at);
        let line = 1 + before.filter(|byte| **byte == b'\n').count();
        CatalogueError { line, reason: reason.into() }
    }

    fn refuse<T>(&self, at: &Spanned<T>, reason: impl Into<String>) -> CatalogueError {
        self.error(at.span().start, reason)
    }

    fn bounded(
        &self,
        what: &str,
        value: &Spanned<u32>,
        bounds: &RangeInclusive<u32>,
    ) -> Result<u32, CatalogueError> {
        let number = *value.get_ref();
        if bounds.contains(&number) {
            return Ok(number);
        }
        let (least, most) = (bounds.start(), bounds.end());
        Err(self.refuse(value, format!("{what} must be between {least} and {most}")))
    }

    fn word(&self, what: &str, value: &Spanned<String>) -> Result<String, CatalogueError> {
        let text = value.get_ref();
        let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        if !text.is_empty() && text.chars().all(plain) {
            return Ok(text.clone());
        }
        Err(self.refuse(value, format!("{what} must be lowercase letters, digits and dashes")))
    }
}

fn versions(
    lines: &Lines,
    given: &Spanned<Vec<Spanned<KafkaVersion>>>,
    supported: Option<&Supported>,
) -> Result<Vec<KafkaVersion>, CatalogueError> {
    if given.get_ref().is_empty() {
        return Err(lines.refuse(given, "kafka_versions lists no version"));
    }
    let mut versions = Vec::new();
    for version in given.get_ref() {
        let number = *version.get_ref();
        if let Some(supported) = supported
            && !supported.kafka_versions.contains(&number)
        {
            let known = joined(supported.kafka_versions);
            let reason = format!("this Castellan can't run Kafka {number}; it can run {known}");
            return Err(lines.refuse(version, reason));
        }
        versions.push(number);
    }
    versions.sort_unstable();
    versions.dedup();
    Ok(versions)
}

/// What disk beyond the plans' own costs. Every plan must be within the most there is.
fn disk(lines: &Lines, file: &File) -> Result<DiskOffer, CatalogueError> {
    let max_gb = lines.bounded("max_disk_gb", &file.max_disk_gb, &SIZE)?;
    if let Some(large) = file.family.iter().find(|family| *family.disk_gb.get_ref() > max_gb) {
        let reason = format!("disk_gb is more than max_disk_gb, {max_gb}");
        return Err(lines.refuse(&large.disk_gb, reason));
    }
    let extra_gb_cents = lines.bounded("extra_disk_gb_cents", &file.extra_disk_gb_cents, &PRICE)?;
    Ok(DiskOffer { extra_gb_cents, max_gb })
}

fn plans(
    lines: &Lines,
    families: &[FileFamily],
    disk: DiskOffer,
) -> Result<Vec<Plan>, CatalogueError> {
    let mut plans: Vec<Plan> = Vec::new();
    for given in families {
        let family = family(lines, given)?;
        for nodes in if family.shared { vec![1] } else { family.nodes.clone() } {
            let name = PlanName(if family.shared {
                family.name.clone()
            } else {
                format!("{}-{nodes}", family.name)
            });
            if plans.iter().any(|plan| plan.name == name) {
                return Err(lines.refuse(&given.name, format!("two plans are called {name}")));
            }
            plans.push(Plan { name, family: family.clone(), nodes, disk });
        }
    }
    if plans.is_empty() {
        return Err(lines.error(0, "there is no [[family]], so nothing could be ordered"));
    }
    plans.sort_by(|a, b| (a.price(), &a.name.0).cmp(&(b.price(), &b.name.0)));
    Ok(plans)
}

fn family(lines: &Lines, given: &FileFamily) -> Result<Family, CatalogueError> {
    let name = lines.word("a family's name", &given.name)?;
    if given.nodes.is_empty() != given.shared {
        let reason = if given.shared {
            format!("family {name} is shared, so it has no nodes of its own")
        } else {
            format!("family {name} needs at least one count under nodes, such as nodes = [1, 3]")
        };
        return Err(lines.refuse(&given.name, reason));
    }
    let nodes = given.nodes.iter().map(|count| lines.bounded("a count of nodes", count, &NODES));
    let memory_gb = lines.bounded("memory_gb", &given.memory_gb, &SIZE)?;
    let partitions = match &given.partitions {
        Some(given) => lines.bounded("partitions", given, &SIZE)?,
        None => memory_gb.saturating_mul(PARTITIONS_PER_GB).min(MOST_PARTITIONS),
    };
    Ok(Family {
        name,
        node_price: lines.bounded("node_price", &given.node_price, &PRICE)?,
        cores: lines.bounded("cores", &given.cores, &SIZE)?,
        memory_gb,
        disk_gb: lines.bounded("disk_gb", &given.disk_gb, &SIZE)?,
        partitions,
        nodes: nodes.collect::<Result<_, _>>()?,
        shared: given.shared,
    })
}

fn regions(
    lines: &Lines,
    given: &[FileRegion],
    supported: Option<&Supported>,
) -> Result<Vec<Region>, CatalogueError> {
    let mut regions: Vec<Region> = Vec::new();
    for file in given {
        let region = Region {
            provider: lines.word("a provider", &file.provider)?,
            region: lines.word("a region", &file.region)?,
            name: file.name.clone(),
            has_shared_plans: file.has_shared_plans,
            cloud: file.cloud.get_ref().clone(),
        };
        let name = region.full_name();
        if regions.iter().any(|other| other.full_name() == name) {
            return Err(lines.refuse(&file.provider, format!("two regions are called {name}")));
        }
        // A region without a cloud would take orders that nobody carries out.
        if let Some(supported) = supported
            && !supported.clouds.contains(&region.cloud.as_str())
        {
            let (cloud, known) = (&region.cloud, joined(supported.clouds));
            let reason = format!("{name} is bound to cloud {cloud:?}, but there is only {known}");
            return Err(lines.refuse(&file.cloud, reason));
        }
        regions.push(region);
    }
    if regions.is_empty() {
        return Err(lines.error(0, "there is no [[region]], so nothing could be ordered"));
    }
    regions.sort_by(|a, b| (&a.provider, &a.region).cmp(&(&b.provider, &b.region)));
    Ok(regions)
}

fn joined(names: &[impl Display]) -> String {
    names.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}
