//! What is kept on disk of networks in namespaces: which slot each has, who is in it at which
//! address, and who may connect. What the kernel has is never written down.
//!
//! Written before the first effect and removed after the last, so that whoever reads it knows
//! of everything that may be there.

use crate::LocalError;
use crate::layout::{Layout, remove};
use host::DirLock;
use ipnet::Ipv4Net;
use model::{InstanceId, ServerId, VpcId};
use netns::{Published, Rule, Slot, Tag};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs;
use std::io::{self, ErrorKind};
use std::net::Ipv4Addr;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

/// The installation's part of this host.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct OfHost {
    pub(crate) tag: Tag,
    /// Its address 1 is the control plane's.
    pub(crate) slot: Slot,
}

/// One private network.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct Vpc {
    pub(crate) slot: Slot,
    pub(crate) subnet: Ipv4Net,
    #[serde(default)]
    pub(crate) seats: BTreeMap<ServerId, Seat>,
}

/// A server in it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct Seat {
    pub(crate) instance_id: InstanceId,
    pub(crate) address: Ipv4Addr,
    /// For others than its own instance and the control plane. None until somebody says so.
    #[serde(default)]
    pub(crate) openings: Option<Vec<Rule>>,
    #[serde(default)]
    pub(crate) published: Vec<Published>,
}

/// The first four addresses of a subnet are the network's own, as in other clouds.
const FIRST_PLACE: u32 = 4;
const PLACES: u32 = 256;

impl Vpc {
    pub(crate) fn has(&self, server: ServerId) -> bool {
        self.seats.contains_key(&server)
    }

    /// The address of a server, chosen now if it has none.
    pub(crate) fn seat(&mut self, newcomer: &Newcomer) -> Option<Ipv4Addr> {
        let published = newcomer.published.clone();
        if let Some(seat) = self.seats.get_mut(&newcomer.server) {
            seat.published = published;
            return Some(seat.address);
        }
        let is_taken = |it: Ipv4Addr| self.seats.values().any(|seat| seat.address == it);
        let address = free_address(self.subnet, newcomer.wanted, is_taken)?;
        let instance_id = newcomer.instance;
        let seat = Seat { instance_id, address, openings: None, published };
        self.seats.insert(newcomer.server, seat);
        Some(address)
    }
}

/// A server that takes its place.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Newcomer {
    pub(crate) server: ServerId,
    pub(crate) instance: InstanceId,
    /// The address that it was promised.
    pub(crate) wanted: Option<Ipv4Addr>,
    pub(crate) published: Vec<Published>,
}

/// The wanted address of a subnet if that is free, else the first that is.
pub(crate) fn free_address(
    subnet: Ipv4Net,
    wanted: Option<Ipv4Addr>,
    is_taken: impl Fn(Ipv4Addr) -> bool,
) -> Option<Ipv4Addr> {
    let first = subnet.network().to_bits();
    let last = subnet.broadcast().to_bits();
    let all = first + FIRST_PLACE..last.min(first + PLACES);
    let wanted = wanted.filter(|it| all.contains(&it.to_bits()));
    wanted.into_iter().chain(all.map(Ipv4Addr::from_bits)).find(|it| !is_taken(*it))
}

/// The book, while nobody else changes it.
pub(crate) struct Book<'a> {
    layout: &'a Layout,
    _lock: DirLock,
}

impl<'a> Book<'a> {
    /// Waits until it is free. Blocks for a moment.
    pub(crate) fn open(layout: &'a Layout) -> Result<Self, LocalError> {
        let room = layout.namespaces();
        let lock = DirLock::take(&room).map_err(io::Error::other);
        Ok(Self { layout, _lock: lock.map_err(LocalError::at(&room))? })
    }

    /// This host's tag and slot, chosen now if there are none.
    pub(crate) fn host(&self) -> Result<OfHost, LocalError> {
        let path = self.layout.namespaces_of_host();
        if let Some(known) = read(&path)? {
            return Ok(known);
        }
        let room = self.layout.root();
        let found = fs::metadata(room).map_err(LocalError::at(room))?;
        let seed = format!("{} {} {}", room.display(), found.dev(), found.ino());
        let tag = Tag::from_seed(seed.as_bytes());
        let slot = netns::choose_slot(&tag, |_| false, &netns::host_networks()?)?;
        let chosen = OfHost { tag, slot };
        write(&path, &chosen)?;
        Ok(chosen)
    }

    pub(crate) fn vpc(&self, id: VpcId) -> Result<Option<Vpc>, LocalError> {
        read(&self.layout.vpc(id))
    }

    pub(crate) fn write(&self, id: VpcId, vpc: &Vpc) -> Result<(), LocalError> {
        write(&self.layout.vpc(id), vpc)
    }

    pub(crate) fn remove(&self, id: VpcId) -> Result<(), LocalError> {
        remove(&self.layout.vpc(id))
    }

    pub(crate) fn all(&self) -> Result<BTreeMap<VpcId, Vpc>, LocalError> {
        all(self.layout)
    }

    /// A slot that nothing on this host has.
    pub(crate) fn free_slot(&self, host: &OfHost) -> Result<Slot, LocalError> {
        let taken: Vec<Slot> = self.all()?.values().map(|vpc| vpc.slot).collect();
        let is_taken = |slot| slot == host.slot || taken.contains(&slot);
        Ok(netns::choose_slot(&host.tag, is_taken, &netns::host_networks()?)?)
    }
}

/// Every network on record, for who only reads.
pub(crate) fn all(layout: &Layout) -> Result<BTreeMap<VpcId, Vpc>, LocalError> {
    let mut found = BTreeMap::new();
    for (id, path) in layout.vpcs()? {
        if let Some(vpc) = read(&path)? {
            found.insert(id, vpc);
        }
    }
    Ok(found)
}

/// Whether a network was made before there were namespaces, and never gets one.
pub(crate) fn has_no_namespace(layout: &Layout, id: VpcId) -> bool {
    layout.network(id).exists() && !layout.vpc(id).exists()
}

/// The tag that this host has, if it ever had a network.
pub(crate) fn tag(layout: &Layout) -> Result<Option<Tag>, LocalError> {
    Ok(read::<OfHost>(&layout.namespaces_of_host())?.map(|host| host.tag))
}

fn read<T: DeserializeOwned>(path: &Path) -> Result<Option<T>, LocalError> {
    let text = match fs::read(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        other => other.map_err(LocalError::at(path))?,
    };
    let wrong = |error: serde_json::Error| LocalError::Foreign {
        path: path.into(),
        why: format!("it can't be read as a network ({error})"),
    };
    serde_json::from_slice(&text).map(Some).map_err(wrong)
}

fn write(path: &Path, what: &impl Serialize) -> Result<(), LocalError> {
    let text = serde_json::to_vec_pretty(what).expect("plain data serialises");
    host::write_atomic(path, &text).map_err(LocalError::at(path))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn vpc(subnet: &str) -> Vpc {
        Vpc { slot: Slot::new(3).unwrap(), subnet: subnet.parse().unwrap(), seats: <_>::default() }
    }

    fn newcomer(server: i64, wanted: Option<&str>) -> Newcomer {
        Newcomer {
            server: ServerId(server),
            instance: InstanceId(1),
            wanted: wanted.map(|it| it.parse().unwrap()),
            published: vec![],
        }
    }

    #[test]
    fn a_server_keeps_its_seat_and_seats_run_out() {
        let mut vpc = vpc("10.1.2.0/28");
        let seat = |vpc: &mut Vpc, server, wanted, expected: Option<&str>| {
            let found = vpc.seat(&newcomer(server, wanted));
            assert_eq!(found, expected.map(|it| it.parse().unwrap()), "{server}");
        };
        seat(&mut vpc, 7, None, Some("10.1.2.4"));
        seat(&mut vpc, 8, Some("10.1.2.9"), Some("10.1.2.9"));
        seat(&mut vpc, 7, Some("10.1.2.10"), Some("10.1.2.4"));
        vpc.seats.remove(&ServerId(7));
        // One that was promised to two, one that a network can't give, and one of another.
        for (server, wanted) in [(9, "10.1.2.9"), (10, "10.1.2.1"), (11, "127.64.0.1")] {
            let expected = format!("10.1.2.{}", server - 5);
            seat(&mut vpc, server, Some(wanted), Some(&expected));
        }
        for id in 12..19 {
            assert!(vpc.seat(&newcomer(id, None)).is_some());
        }
        seat(&mut vpc, 19, None, None);
        // Nor more than a block of aliases has.
        let mut large = self::vpc("10.1.0.0/16");
        let all = (0..).map_while(|id| large.seat(&newcomer(id, None))).count();
        assert_eq!(all, 252);
    }

    #[test]
    fn the_book_is_read_as_it_was_written() {
        let place = tempfile::tempdir().unwrap();
        let layout = Layout::make(place.path()).unwrap();
        let book = Book::open(&layout).unwrap();
        let mut vpc = vpc("10.1.2.0/24");
        vpc.seat(&newcomer(7, None));
        book.write(VpcId(5), &vpc).unwrap();
        assert_eq!(book.vpc(VpcId(5)).unwrap(), Some(vpc.clone()));
        assert_eq!(book.all().unwrap(), BTreeMap::from([(VpcId(5), vpc)]));
        book.remove(VpcId(5)).unwrap();
        assert_eq!(all(&layout).unwrap(), BTreeMap::new());
        fs::write(layout.vpc(VpcId(6)), "no").unwrap();
        assert!(all(&layout).unwrap_err().to_string().contains("can't be read as a network"));
    }
}
