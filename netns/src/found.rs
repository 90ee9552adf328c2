//! Everything on this host that bears a name of ours, of any installation, as the kernel
//! has it.

use crate::kernel::{self, Place, is_namespace, namespaces};
use crate::names::{read_address, read_link, read_namespace, read_table};
use crate::{Error, Networks, Slot, Tag};
use std::collections::BTreeSet;

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Kind {
    /// Of a network.
    Network,
    /// The namespace of a member.
    Member,
    /// The host's end of an uplink.
    Link,
    /// Rules on the host.
    Table,
    /// The control plane's.
    Address,
}

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Found {
    pub tag: Tag,
    /// None is the host's part.
    pub slot: Option<Slot>,
    pub kind: Kind,
    pub name: String,
    /// Whose it is, as its installation has written on it.
    pub note: Option<String>,
    /// Whether only its name is left, as after a reboot.
    pub is_stale: bool,
}

/// In the order of tags and slots.
pub fn found() -> Result<Vec<Found>, Error> {
    let mut found = Vec::new();
    for name in namespaces()? {
        let Some(named) = read_namespace(&name) else { continue };
        let kind = if named.place.is_some() { Kind::Member } else { Kind::Network };
        let is_stale = !is_namespace(&name);
        let (tag, slot) = (named.tag, Some(named.slot));
        found.push(Found { tag, slot, kind, name, note: None, is_stale });
    }
    let seen = kernel::look(&Place::Host)?;
    for link in &seen.links {
        let whole =
            |(tag, slot, kind, name, note)| Found { tag, slot, kind, name, note, is_stale: false };
        if let Some((tag, slot)) = read_link(&link.name) {
            let (name, note) = (link.name.clone(), link.note.clone());
            found.push(whole((tag, Some(slot), Kind::Link, name, note)));
        }
        for (label, net) in &link.labels {
            if let Some(tag) = read_address(label) {
                let name = net.addr().to_string();
                found.push(whole((tag, None, Kind::Address, name, None)));
            }
        }
    }
    let tables = kernel::rules(&Place::Host, &["tables", "ip"])?.unwrap_or_default();
    for line in tables.lines() {
        let Some(name) = line.strip_prefix("table ip ") else { continue };
        let Some(tag) = read_table(name.trim()) else { continue };
        let name = name.trim().to_owned();
        let (slot, kind, note) = (None, Kind::Table, None);
        found.push(Found { tag, slot, kind, name, note, is_stale: false });
    }
    found.sort();
    Ok(found)
}

/// Removes what was found of one installation, but for the networks in these slots. The host's
/// part goes when no network is left. Each network by itself: one that can't be removed keeps no
/// other. Answers what was changed, and what went wrong.
pub fn remove_found(tag: &Tag, keep: &[Slot]) -> Result<(Vec<String>, Vec<Error>), Error> {
    let networks = Networks::new(tag.clone(), "");
    let slots: BTreeSet<Slot> = found()?
        .into_iter()
        .filter(|found| found.tag == *tag)
        .filter_map(|found| found.slot)
        .collect();
    let (mut done, mut errors) = (Vec::new(), Vec::new());
    for slot in slots.into_iter().filter(|slot| !keep.contains(slot)) {
        match networks.remove(slot) {
            Ok(changes) => done.extend(changes),
            Err(error) => errors.push(error),
        }
    }
    if keep.is_empty() && errors.is_empty() {
        done.extend(networks.remove_host()?);
    }
    Ok((done, errors))
}
