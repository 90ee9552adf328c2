//! What of networks in namespaces is on this host, of every installation, and clearing what
//! none of them has on record.
//!
//! It needs no control plane. Another installation's networks are left alone for as long as its
//! directory exists.

use crate::layout::Layout;
use crate::{LocalError, vpcs};
use model::VpcId;
use netns::{Found, Slot, Tag};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Something in the kernel that bears a name of ours, or should be there and is not.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NetworkPart {
    pub name: String,
    /// None is missing.
    pub found: Option<Found>,
    pub whose: Whose,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Whose {
    /// Of a network on record here.
    Network(VpcId),
    /// For all networks on record here.
    Host,
    /// On nobody's record.
    Nobody,
    /// Of an installation elsewhere on this host, as far as it says where.
    Other(Option<String>),
}

/// Everything there is, and each network on record that is not there.
pub fn network_parts(data_dir: &Path) -> Result<Vec<NetworkPart>, LocalError> {
    let book = Book::read(data_dir)?;
    let all = netns::found()?;
    let places = places(&all);
    let mut parts: Vec<NetworkPart> = all
        .into_iter()
        .map(|found| {
            let whose = book.whose(&found, &places);
            NetworkPart { name: found.name.clone(), found: Some(found), whose }
        })
        .collect();
    for (slot, id) in &book.slots {
        let whose = Whose::Network(*id);
        if !parts.iter().any(|part| part.whose == whose) {
            let name = format!("network {slot}");
            parts.push(NetworkPart { name, found: None, whose });
        }
    }
    Ok(parts)
}

/// Removes what is on nobody's record. Answers what was removed, and what could not be.
pub fn clean_networks(data_dir: &Path) -> Result<(Vec<String>, Vec<netns::Error>), LocalError> {
    let book = Book::read(data_dir)?;
    let all = netns::found()?;
    let places = places(&all);
    let left = all.iter().filter(|found| book.whose(found, &places) == Whose::Nobody);
    let tags: BTreeSet<&Tag> = left.map(|found| &found.tag).collect();
    let (mut done, mut errors) = (Vec::new(), Vec::new());
    for tag in tags {
        let is_own = book.tag.as_ref() == Some(tag);
        let keep: Vec<Slot> = if is_own { book.slots.keys().copied().collect() } else { vec![] };
        let (removed, failed) = netns::remove_found(tag, &keep)?;
        done.extend(removed);
        errors.extend(failed);
    }
    Ok((done, errors))
}

/// What kinds of servers a directory has had.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct PastNetworks {
    pub has_namespaces: bool,
    /// Of whatever kind.
    pub has_servers: bool,
}

pub fn past_networks(data_dir: &Path) -> Result<PastNetworks, LocalError> {
    if !data_dir.exists() {
        return Ok(PastNetworks::default());
    }
    let layout = Layout::of(data_dir)?;
    let has_namespaces = vpcs::tag(&layout)?.is_some();
    Ok(PastNetworks { has_namespaces, has_servers: !layout.servers()?.is_empty() })
}

/// Removes all networks of this directory from the kernel. They stay on record, and are made
/// again when the control plane starts. Processes in them must have ended.
pub fn remove_namespaces(data_dir: &Path) -> Result<Vec<netns::Error>, LocalError> {
    let Some(tag) = Book::read(data_dir)?.tag else { return Ok(Vec::new()) };
    Ok(netns::remove_found(&tag, &[])?.1)
}

/// What this directory has on record.
#[derive(Default)]
struct Book {
    tag: Option<Tag>,
    slots: BTreeMap<Slot, VpcId>,
}

impl Book {
    fn read(data_dir: &Path) -> Result<Self, LocalError> {
        if !data_dir.exists() {
            return Ok(Self::default());
        }
        let layout = Layout::of(data_dir)?;
        let slots = vpcs::all(&layout)?.into_iter().map(|(id, vpc)| (vpc.slot, id));
        Ok(Self { tag: vpcs::tag(&layout)?, slots: slots.collect() })
    }

    fn whose(&self, found: &Found, places: &BTreeMap<Tag, String>) -> Whose {
        if self.tag.as_ref() != Some(&found.tag) {
            return match places.get(&found.tag) {
                Some(place) if !Path::new(place).exists() => Whose::Nobody,
                place => Whose::Other(place.cloned()),
            };
        }
        match found.slot {
            Some(slot) => self.slots.get(&slot).map_or(Whose::Nobody, |id| Whose::Network(*id)),
            None if self.slots.is_empty() => Whose::Nobody,
            None => Whose::Host,
        }
    }
}

/// Where installations say that they are, on the links of their networks.
fn places(all: &[Found]) -> BTreeMap<Tag, String> {
    let noted = all.iter().filter_map(|found| Some((found.tag.clone(), found.note.clone()?)));
    noted.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use netns::Kind;

    #[test]
    fn what_is_on_nobodys_record_is_told_from_others() {
        let place = tempfile::tempdir().unwrap();
        let other = place.path().display().to_string();
        let [ours, theirs, gone, unknown]: [Tag; 4] =
            ["00000a", "00000b", "00000c", "00000d"].map(|tag| tag.parse().unwrap());
        let slot = |number| Slot::new(number).unwrap();
        let book =
            Book { tag: Some(ours.clone()), slots: [(slot(1), VpcId(7))].into_iter().collect() };
        let places = [(theirs.clone(), other.clone()), (gone.clone(), "/gone/away".into())];
        let places = places.into_iter().collect();
        let check = |tag: &Tag, slot: Option<Slot>, expected: Whose| {
            let found = Found {
                tag: tag.clone(),
                slot,
                kind: Kind::Member,
                name: "it".into(),
                note: None,
                is_stale: false,
            };
            assert_eq!(book.whose(&found, &places), expected);
        };
        check(&ours, Some(slot(1)), Whose::Network(VpcId(7)));
        check(&ours, Some(slot(2)), Whose::Nobody);
        check(&ours, None, Whose::Host);
        check(&theirs, Some(slot(1)), Whose::Other(Some(other)));
        check(&gone, Some(slot(1)), Whose::Nobody);
        check(&unknown, None, Whose::Other(None));
    }
}
