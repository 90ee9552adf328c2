//! Rules as texts for `nft`, from descriptions alone: nothing here asks or changes anything.

mod firewall;
mod guard;
mod host;
mod network;

pub(crate) use self::host::host;
pub(crate) use firewall::firewall;
pub(crate) use guard::guard;
pub(crate) use network::{BRIDGE, UPLINK, network};

/// The table of ours in every namespace of ours.
pub(crate) const TABLE: &str = "castellan";

/// A table and all that is in it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Table {
    pub(crate) family: &'static str,
    pub(crate) name: String,
    pub(crate) body: String,
}

impl Table {
    /// As `nft` names it.
    pub(crate) fn title(&self) -> String {
        format!("{} {}", self.family, self.name)
    }

    /// Replaces it, whatever was there: the kernel takes the whole text at once or nothing.
    pub(crate) fn text(&self) -> String {
        let (title, body) = (self.title(), &self.body);
        format!("table {title}\ndelete table {title}\ntable {title} {{\n{body}}}\n")
    }
}

/// The line for what a set or map holds; none if that is nothing.
fn elements(list: impl IntoIterator<Item = String>) -> String {
    let mut list: Vec<String> = list.into_iter().collect();
    list.sort();
    list.dedup();
    if list.is_empty() {
        return String::new();
    }
    format!("    elements = {{ {} }}\n", list.join(", "))
}

/// A chain that ends what comes to it, at once rather than after a while.
const CLOSED: &str = "  chain closed {
    meta l4proto tcp reject with tcp reset
    reject with icmp type admin-prohibited
  }
";
