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
    pub(crate) fn seat(
        &mut self,
        server: ServerId,
        instance_id: InstanceId,
        published: &[Published],
    ) -> Option<Ipv4Addr> {
        if let Some(seat) = self.seats.get_mut(&server) {
            seat.published = published.to_vec();
            return Some(seat.address);
        }
        let first = self.subnet.network().to_bits();
        let last = self.subnet.broadcast().to_bits();
        let mut all = (first + FIRST_PLACE..last.min(first + PLACES)).map(Ipv4Addr::from_bits);
        let address = all.find(|it| !self.seats.values().any(|seat| seat.address == *it))?;
        let seat = Seat { instance_id, address, openings: None, published: published.to_vec() };
        self.seats.insert(server, seat);
        Some(address)
    }
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

    #[test]
    fn a_server_keeps_its_seat_and_seats_run_out() {
        let mut vpc = vpc("10.1.2.0/28");
        let one = InstanceId(1);
        assert_eq!(vpc.seat(ServerId(7), one, &[]), Some("10.1.2.4".parse().unwrap()));
        assert_eq!(vpc.seat(ServerId(8), one, &[]), Some("10.1.2.5".parse().unwrap()));
        assert_eq!(vpc.seat(ServerId(7), one, &[]), Some("10.1.2.4".parse().unwrap()));
        vpc.seats.remove(&ServerId(7));
        assert_eq!(vpc.seat(ServerId(9), one, &[]), Some("10.1.2.4".parse().unwrap()));
        for id in 10..19 {
            assert!(vpc.seat(ServerId(id), one, &[]).is_some());
        }
        assert_eq!(vpc.seat(ServerId(19), one, &[]), None);
        // Nor more than a block of aliases has.
        let mut large = self::vpc("10.1.0.0/16");
        let all = (0..).map_while(|id| large.seat(ServerId(id), one, &[])).count();
        assert_eq!(all, 252);
    }

    #[test]
    fn the_book_is_read_as_it_was_written() {
        let place = tempfile::tempdir().unwrap();
        let layout = Layout::make(place.path()).unwrap();
        let book = Book::open(&layout).unwrap();
        let mut vpc = vpc("10.1.2.0/24");
        vpc.seat(ServerId(7), InstanceId(1), &[]);
        book.write(VpcId(5), &vpc).unwrap();
        assert_eq!(book.vpc(VpcId(5)).unwrap(), Some(vpc.clone()));
        assert_eq!(book.all().unwrap(), BTreeMap::from([(VpcId(5), vpc)]));
        book.remove(VpcId(5)).unwrap();
        assert_eq!(all(&layout).unwrap(), BTreeMap::new());
        fs::write(layout.vpc(VpcId(6)), "no").unwrap();
        assert!(all(&layout).unwrap_err().to_string().contains("can't be read as a network"));
    }
}
