//! What a customer can order.

use crate::Cents;
use serde::{Deserialize, Serialize};
use std::fmt;

/// The name of a plan, such as `mouse-3`, as it stands in the catalogue.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub struct PlanName(pub String);

impl fmt::Display for PlanName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A size of server; with a node count it makes a plan.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Family {
    pub name: String,
    /// US dollars a month for one node.
    pub node_price: u32,
    pub cores: u32,
    pub memory_gb: u32,
    pub disk_gb: u32,
    /// Replicas of partitions that a customer may have for each node.
    pub partitions: u32,
    /// Node counts on offer; each makes a plan `<name>-<count>`. A shared
    /// family has none: it is one plan, called as the family.
    pub nodes: Vec<u32>,
    pub shared: bool,
}

/// A family with its node count.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Plan {
    pub name: PlanName,
    pub family: Family,
    pub nodes: u32,
    pub disk: DiskOffer,
}

/// Disk beyond that of a plan, the same for all plans of a catalogue.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DiskOffer {
    /// US cents a month for one gigabyte of one node.
    pub extra_gb_cents: u32,
    /// The most gigabytes that a node can have.
    pub max_gb: u32,
}

impl Plan {
    /// US dollars a month for all nodes.
    pub fn price(&self) -> u32 {
        self.family.node_price * self.nodes
    }

    /// A month of an instance, as bills count: the plan, and every gigabyte that each
    /// node has beyond it.
    pub fn price_cents(&self, disk_size: Option<u32>) -> Cents {
        let extra_gb = i64::from(self.disk_gb(disk_size) - self.family.disk_gb);
        let disk = extra_gb.saturating_mul(self.disk.extra_gb_cents.into());
        let node = i64::from(self.family.node_price).saturating_mul(100).saturating_add(disk);
        Cents(node.saturating_mul(self.nodes.into()))
    }

    pub fn shared(&self) -> bool {
        self.family.shared
    }

    /// Gigabytes on each server: the plan's, or what was asked for if more.
    pub fn disk_gb(&self, disk_size: Option<u32>) -> u32 {
        self.family.disk_gb.max(disk_size.unwrap_or(0))
    }
}

#[cfg(test)]
mod tests {
    use crate::{Catalogue, Cents};

    #[test]
    fn gigabytes_beyond_the_plan_are_paid_for_on_every_node() {
        let catalogue = Catalogue::built_in();
        let check = |plan: &str, disk_size, expected| {
            let price = catalogue.plan(plan).unwrap().price_cents(disk_size);
            assert_eq!(price, Cents(expected), "{plan} {disk_size:?}");
        };
        check("mouse-3", None, 29_700);
        check("mouse-3", Some(10), 29_700);
        check("mouse-3", Some(25), 29_700);
        check("mouse-3", Some(125), 29_700 + 3 * 100 * 20);
        check("penguin-7", Some(16_000), 1_050_000 + 7 * 12_000 * 20);
    }
}
