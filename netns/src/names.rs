//! What things of ours are called. A name tells whose it is and what it is for, so that
//! everything is found again without a list of it.

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// Where `ip netns` keeps the namespaces that have a name.
pub(crate) const NAMESPACES: &str = "/run/netns";
const WORD: &str = "castellan";
/// Of links on the host. A link's name has 15 characters at most.
const LINK: &str = "cn";
/// Of an address on the host's loopback link, whose name it has to begin with.
const LABEL: &str = "lo:cn";
const TAG_LENGTH: usize = 6;
pub(crate) const MOST_SLOTS: u16 = 1 << 14;

/// Whose networks: six hex digits, so that several installations live on one host.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Tag(String);

#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("a tag is six hex digits in lower case")]
pub struct NoTag;

impl Tag {
    /// The same for the same seed, and hardly ever for another.
    pub fn from_seed(seed: &[u8]) -> Self {
        let digest = Sha256::digest(seed);
        Self(format!("{:02x}{:02x}{:02x}", digest[0], digest[1], digest[2]))
    }

    pub(crate) fn number(&self) -> u32 {
        u32::from_str_radix(&self.0, 16).expect("it is hex digits")
    }

    /// The namespace of a network.
    pub(crate) fn network(&self, slot: Slot) -> String {
        format!("{WORD}-{self}-{slot}")
    }

    /// The namespace of the member that has that place in the network's subnet.
    pub(crate) fn member(&self, slot: Slot, place: u8) -> String {
        format!("{WORD}-{self}-{slot}-{place}")
    }

    /// The host's end of a network's uplink.
    pub(crate) fn link(&self, slot: Slot) -> String {
        format!("{LINK}{self}-{slot}")
    }

    /// What all of them have in common, as rules write it.
    pub(crate) fn links(&self) -> String {
        format!("{LINK}{self}-*")
    }

    /// The label of the control plane's address.
    pub(crate) fn address(&self) -> String {
        format!("{LABEL}{self}")
    }

    /// The table on the host.
    pub(crate) fn table(&self) -> String {
        format!("{WORD}_{self}")
    }
}

impl FromStr for Tag {
    type Err = NoTag;

    fn from_str(text: &str) -> Result<Self, NoTag> {
        let is_digit = |letter: u8| matches!(letter, b'0'..=b'9' | b'a'..=b'f');
        let is_tag = text.len() == TAG_LENGTH && text.bytes().all(is_digit);
        is_tag.then(|| Self(text.into())).ok_or(NoTag)
    }
}

impl TryFrom<String> for Tag {
    type Error = NoTag;

    fn try_from(text: String) -> Result<Self, NoTag> {
        text.parse()
    }
}

impl From<Tag> for String {
    fn from(tag: Tag) -> Self {
        tag.0
    }
}

impl fmt::Display for Tag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Which of the host's networks: its names and its alias block come from it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(try_from = "u16", into = "u16")]
pub struct Slot(u16);

impl Slot {
    pub fn new(number: u16) -> Option<Self> {
        (number < MOST_SLOTS).then_some(Self(number))
    }

    pub fn number(self) -> u16 {
        self.0
    }
}

impl TryFrom<u16> for Slot {
    type Error = String;

    fn try_from(number: u16) -> Result<Self, String> {
        Self::new(number).ok_or_else(|| format!("a slot is less than {MOST_SLOTS}"))
    }
}

impl From<Slot> for u16 {
    fn from(slot: Slot) -> Self {
        slot.0
    }
}

impl fmt::Display for Slot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// What a namespace of anybody's installation is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Named {
    pub(crate) tag: Tag,
    pub(crate) slot: Slot,
    /// None is the network's own.
    pub(crate) place: Option<u8>,
}

pub(crate) fn read_namespace(name: &str) -> Option<Named> {
    let (tag, rest) = name.strip_prefix(WORD)?.strip_prefix('-')?.split_once('-')?;
    let (slot, place) = match rest.split_once('-') {
        Some((slot, place)) => (slot, Some(number(place)?)),
        None => (rest, None),
    };
    let place = place.map(u8::try_from).transpose().ok()?;
    Some(Named { tag: tag.parse().ok()?, slot: Slot::new(number(slot)?)?, place })
}

pub(crate) fn read_link(name: &str) -> Option<(Tag, Slot)> {
    let (tag, slot) = name.strip_prefix(LINK)?.split_once('-')?;
    Some((tag.parse().ok()?, Slot::new(number(slot)?)?))
}

pub(crate) fn read_address(label: &str) -> Option<Tag> {
    label.strip_prefix(LABEL)?.parse().ok()
}

pub(crate) fn read_table(name: &str) -> Option<Tag> {
    name.strip_prefix(WORD)?.strip_prefix('_')?.parse().ok()
}

/// As we write numbers, without a sign or zeros before.
fn number(text: &str) -> Option<u16> {
    text.parse().ok().filter(|number: &u16| number.to_string() == text)
}

pub(crate) fn path(namespace: &str) -> PathBuf {
    Path::new(NAMESPACES).join(namespace)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_as_they_are_written() {
        let tag: Tag = "0a3f2c".parse().unwrap();
        for slot in [0, 9, MOST_SLOTS - 1] {
            let slot = Slot::new(slot).unwrap();
            for place in [None, Some(2), Some(254)] {
                let name = match place {
                    Some(place) => tag.member(slot, place),
                    None => tag.network(slot),
                };
                let named = Named { tag: tag.clone(), slot, place };
                assert_eq!(read_namespace(&name), Some(named));
            }
            assert!(tag.link(slot).len() <= 15, "{}", tag.link(slot));
            assert_eq!(read_link(&tag.link(slot)), Some((tag.clone(), slot)));
        }
        assert!(tag.address().len() <= 15, "{}", tag.address());
        assert_eq!(read_address(&tag.address()), Some(tag.clone()));
        assert_eq!(read_table(&tag.table()), Some(tag));
    }

    #[test]
    fn what_only_looks_like_ours_is_not() {
        let namespaces = [
            "castellan",
            "castellan-0a3f2c",
            "castellan-0a3f2c-",
            "castellan-0a3f2-1",
            "castellan-0A3F2C-1",
            "castellan-0a3f2c-01",
            "castellan-0a3f2c-+1",
            "castellan-0a3f2c-16384",
            "castellan-0a3f2c-1-256",
            "castellan-0a3f2c-1-2-3",
            "xcastellan-0a3f2c-1",
            "other",
        ];
        for name in namespaces {
            assert_eq!(read_namespace(name), None, "{name}");
        }
        for name in ["cn", "cn0a3f2c", "cn0a3f2c-", "cni0", "cn0a3f2c-x", "eth0", "cn0a3f2c-1x"] {
            assert_eq!(read_link(name), None, "{name}");
        }
        for name in ["castellan", "castellan_", "castellan_zz3f2c", "filter"] {
            assert_eq!(read_table(name), None, "{name}");
        }
    }

    #[test]
    fn a_seed_has_one_tag() {
        assert_eq!(Tag::from_seed(b"one"), Tag::from_seed(b"one"));
        assert_ne!(Tag::from_seed(b"one"), Tag::from_seed(b"two"));
    }
}
