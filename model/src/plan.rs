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
}

impl Plan {
    /// US dollars a month for all nodes.
    pub fn price(&self) -> u32 {
        self.family.node_price * self.nodes
    }

    /// The same in whole cents, as bills count.
    pub fn price_cents(&self) -> Cents {
        let dollars = i64::from(self.family.node_price).saturating_mul(i64::from(self.nodes));
        Cents(dollars.saturating_mul(100))
    }

    pub fn shared(&self) -> bool {
        self.family.shared
    }

    /// Gigabytes on each server: the plan's, or what was asked for if more.
    pub fn disk_gb(&self, disk_size: Option<u32>) -> u32 {
        self.family.disk_gb.max(disk_size.unwrap_or(0))
    }
}
