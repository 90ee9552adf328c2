//! Fields of an instance, checked against the catalogue. Every fault is noted,
//! none stops the others from being found.

use crate::Problems;
use model::{Catalogue, KafkaVersion, Plan, Region};
use std::fmt::Display;

/// The plan that name and node count ask for: `nodes` wins over the suffix,
/// and alone it keeps the family of `present`.
pub fn plan<'a>(
    problems: &mut Problems,
    catalogue: &'a Catalogue,
    name: Option<&str>,
    nodes: Option<i64>,
    present: Option<&'a Plan>,
) -> Option<&'a Plan> {
    let named = if let Some(name) = name {
        let found = catalogue.plan(name);
        if found.is_none() {
            problems.add("plan", one_of(catalogue.plans().iter().map(|plan| &plan.name)));
        }
        found?
    } else {
        if nodes.is_some() && present.is_none() {
            let what = "needs a plan beside it: the present one is no longer offered";
            problems.add("nodes", what);
        }
        present?
    };
    let Some(nodes) = nodes else { return Some(named) };
    if named.shared() && nodes == i64::from(named.nodes) {
        return Some(named);
    }
    let count = u32::try_from(nodes).unwrap_or(0);
    let found = catalogue.plan_of(&named.family.name, count);
    if found.is_none() {
        let counts = if named.shared() { &vec![1] } else { &named.family.nodes };
        problems.add("nodes", format!("{} for this plan", one_of(counts)));
    }
    found
}

pub fn region<'a>(
    problems: &mut Problems,
    catalogue: &'a Catalogue,
    name: &str,
) -> Option<&'a Region> {
    let found = catalogue.region(name);
    if found.is_none() {
        problems.add("region", one_of(catalogue.regions().iter().map(Region::full_name)));
    }
    found
}

pub fn kafka_version(
    problems: &mut Problems,
    catalogue: &Catalogue,
    text: &str,
) -> Option<KafkaVersion> {
    let version = text.parse().ok().filter(|version| catalogue.kafka_versions().contains(version));
    if version.is_none() {
        problems.add("kafka_version", one_of(catalogue.kafka_versions()));
    }
    version
}

pub fn disk_size(problems: &mut Problems, catalogue: &Catalogue, size: i64) -> Option<u32> {
    let most = catalogue.disk().max_gb;
    let size = u32::try_from(size).ok().filter(|size| (1..=most).contains(size));
    if size.is_none() {
        problems.add("disk_size", format!("must be gigabytes between 1 and {most}"));
    }
    size
}

fn one_of(offered: impl IntoIterator<Item = impl Display>) -> String {
    let names: Vec<String> = offered.into_iter().map(|item| item.to_string()).collect();
    format!("must be one of {}", names.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_win_over_the_suffix() {
        let catalogue = Catalogue::built_in();
        let present = catalogue.plan("bat-3");
        let check = |name: Option<&str>, nodes, expected: Option<&str>| {
            let mut problems = Problems::default();
            let plan = plan(&mut problems, &catalogue, name, nodes, present);
            assert_eq!(plan.map(|plan| plan.name.0.as_str()), expected, "{name:?} {nodes:?}");
            assert_eq!(problems.finish().is_ok(), expected.is_some(), "{name:?} {nodes:?}");
        };
        check(Some("mouse-1"), None, Some("mouse-1"));
        check(Some("mouse-1"), Some(3), Some("mouse-3"));
        check(None, Some(5), Some("bat-5"));
        check(None, None, Some("bat-3"));
        check(Some("ducky"), Some(1), Some("ducky"));
        check(Some("ducky"), Some(3), None);
        check(Some("mouse-1"), Some(2), None);
        check(Some("mouse-1"), Some(-1), None);
        check(Some("mouse-2"), Some(3), None);
        check(Some("mouse"), None, None);
    }

    #[test]
    fn an_unknown_version_is_answered_with_the_supported_ones() {
        let catalogue = Catalogue::built_in();
        let mut problems = Problems::default();
        assert_eq!(kafka_version(&mut problems, &catalogue, "2.8.0"), None);
        let error = problems.finish().unwrap_err().to_string();
        assert_eq!(error, "kafka_version: must be one of 3.9.2, 4.0.2, 4.1.2, 4.2.1, 4.3.1");
    }
}
