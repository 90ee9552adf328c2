//! The clouds of a control plane, and which regions each of them serves.

use model::{Catalogue, Region, RegionName};
use std::collections::{BTreeMap, HashMap};

/// One `T` a cloud, found by the regions that the catalogue binds to it.
#[derive(Clone, Debug)]
pub struct Clouds<T> {
    named: BTreeMap<String, T>,
    /// The name of the cloud of each region.
    regions: HashMap<RegionName, String>,
}

/// A region of the catalogue whose cloud this control plane does not have.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error(
    "region {region} of the catalogue is bound to cloud {cloud:?}, and this control plane has \
     {known}; bind the region to one of these or remove it"
)]
pub struct UnservedRegion {
    pub region: RegionName,
    pub cloud: String,
    pub known: String,
}

impl<T> Clouds<T> {
    /// Fails unless there is a cloud for every region of the catalogue.
    pub fn bind(
        catalogue: &Catalogue,
        named: impl IntoIterator<Item = (String, T)>,
    ) -> Result<Self, UnservedRegion> {
        let named: BTreeMap<String, T> = named.into_iter().collect();
        let serve = |region: &Region| {
            let (name, cloud) = (region.full_name(), region.cloud.clone());
            if named.contains_key(&cloud) {
                return Ok((name, cloud));
            }
            let known = named.keys().map(String::as_str).collect::<Vec<_>>().join(", ");
            Err(UnservedRegion { region: name, cloud, known })
        };
        let regions = catalogue.regions().iter().map(serve).collect::<Result<_, _>>()?;
        Ok(Self { named, regions })
    }

    /// The cloud of a region; none if the catalogue no longer has it.
    pub fn serving(&self, region: &RegionName) -> Option<&T> {
        self.named.get(self.regions.get(region)?)
    }

    /// Each cloud once, however many regions it serves.
    pub fn all(&self) -> impl Iterator<Item = &T> {
        self.named.values()
    }

    /// The same regions, with a part of what is known of each cloud.
    pub fn map<U>(&self, part: impl Fn(&T) -> U) -> Clouds<U> {
        let named = self.named.iter().map(|(name, cloud)| (name.clone(), part(cloud)));
        Clouds { named: named.collect(), regions: self.regions.clone() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(names: &[&'static str]) -> Vec<(String, &'static str)> {
        names.iter().map(|name| ((*name).to_owned(), *name)).collect()
    }

    /// The built-in catalogue, whose last region is bound to another cloud.
    fn two_clouds() -> (Catalogue, RegionName, RegionName) {
        let (before, after) = Catalogue::BUILT_IN.rsplit_once("cloud = \"local\"").unwrap();
        let text = format!("{before}cloud = \"other\"{after}");
        let catalogue = Catalogue::parse(&text, None).unwrap();
        let of = |cloud: &str| {
            let mut regions = catalogue.regions().iter();
            regions.find(|region| region.cloud == cloud).unwrap().full_name()
        };
        let (local, other) = (of("local"), of("other"));
        (catalogue, local, other)
    }

    #[test]
    fn each_region_is_served_by_the_cloud_that_the_catalogue_names() {
        let (catalogue, local, other) = two_clouds();
        let clouds = Clouds::bind(&catalogue, named(&["local", "other"])).unwrap();
        assert_eq!(clouds.serving(&local), Some(&"local"));
        assert_eq!(clouds.serving(&other), Some(&"other"));
        assert_eq!(clouds.serving(&RegionName("gone::region".into())), None);
        assert_eq!(clouds.all().collect::<Vec<_>>(), [&"local", &"other"]);
        assert_eq!(clouds.map(|name| name.len()).serving(&other), Some(&5));
    }

    #[test]
    fn a_region_without_a_cloud_is_refused() {
        let (catalogue, _, other) = two_clouds();
        let refused = Clouds::bind(&catalogue, named(&["local"])).unwrap_err();
        assert_eq!((refused.region, &*refused.cloud, &*refused.known), (other, "other", "local"));
    }
}
