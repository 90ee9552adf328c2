//! Which addresses a network has on the host: a block that is unique there, whatever its
//! subnet is.

use crate::kernel::{self, Place};
use crate::names::MOST_SLOTS;
use crate::{Error, Network, Slot, Tag};
use ipnet::{Ipv4Net, Ipv4Subnets};
use std::net::Ipv4Addr;

/// The shared address space of carriers, which no host on the internet has and few
/// private networks use.
pub const POOL: Ipv4Net = Ipv4Net::new_assert(Ipv4Addr::new(100, 64, 0, 0), 10);
/// The most that a network has of it.
const WHOLE: u8 = 24;

/// What a slot may use at most.
fn whole(slot: Slot) -> Ipv4Net {
    let first = POOL.network().to_bits() + (u32::from(slot.number()) << (32 - WHOLE));
    Ipv4Net::new_assert(first.into(), WHOLE)
}

/// The addresses by which the host knows a network's members.
pub fn block(slot: Slot, subnet: Ipv4Net) -> Ipv4Net {
    Ipv4Net::new_assert(whole(slot).network(), subnet.prefix_len().max(WHOLE))
}

/// The first addresses of the subnet, as many as the block has.
pub(crate) fn members(subnet: Ipv4Net) -> Ipv4Net {
    Ipv4Net::new_assert(subnet.network(), subnet.prefix_len().max(WHOLE))
}

/// The ends of the uplink: the host's and the network's.
pub(crate) fn uplink(slot: Slot) -> (Ipv4Net, Ipv4Net) {
    let first = whole(slot).network();
    let end = |place| Ipv4Net::new_assert(Ipv4Addr::from_bits(first.to_bits() + place), 31);
    (end(0), end(1))
}

/// The address that the host has of a slot that is no network's: the control plane's.
pub fn host_address(slot: Slot) -> Ipv4Addr {
    uplink(slot).1.addr()
}

/// By which address the host, and nothing else, reaches a member.
pub fn alias(network: &Network, member: Ipv4Addr) -> Option<Ipv4Addr> {
    let place = network.place(member)?;
    let first = block(network.slot, network.subnet).network().to_bits();
    Some((first + u32::from(place)).into())
}

/// By which addresses the host knows machines of a network: its block without the link's ends,
/// by which clients on the host's loopback come.
pub fn aliases(slot: Slot, subnet: Ipv4Net) -> Ipv4Subnets {
    let block = block(slot, subnet);
    let first = Ipv4Addr::from_bits(block.network().to_bits() + 2);
    Ipv4Subnets::new(first, block.broadcast(), 0)
}

/// A free slot. Each installation begins to search elsewhere, so that two rarely meet.
pub fn choose_slot(
    tag: &Tag,
    is_taken: impl Fn(Slot) -> bool,
    host_networks: &[Ipv4Net],
) -> Result<Slot, Error> {
    let count = u32::from(MOST_SLOTS);
    let meets = |one: &Ipv4Net, other: &Ipv4Net| one.contains(other) || other.contains(one);
    (0..count)
        .map(|step| (tag.number() + step) % count)
        .filter_map(|number| Slot::new(u16::try_from(number).ok()?))
        .find(|slot| {
            let block = whole(*slot);
            !is_taken(*slot) && !host_networks.iter().any(|net| meets(net, &block))
        })
        .ok_or(Error::NoSlot(POOL))
}

/// Every network that this host has an address in or a route to, without the default route.
pub fn host_networks() -> Result<Vec<Ipv4Net>, Error> {
    let seen = kernel::look(&Place::Host)?;
    let addresses = seen.links.iter().flat_map(|link| &link.addresses).map(Ipv4Net::trunc);
    let routes = seen.routes.iter().map(|route| route.to);
    let mut found: Vec<Ipv4Net> =
        addresses.chain(routes).filter(|net| net.prefix_len() > 0).collect();
    found.sort();
    found.dedup();
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Member;

    fn slot(number: u16) -> Slot {
        Slot::new(number).unwrap()
    }

    #[test]
    fn a_block_is_as_long_as_its_subnet_and_no_longer_than_256() {
        let check = |number, subnet: &str, expected: &str| {
            let found = block(slot(number), subnet.parse().unwrap());
            assert_eq!(found.to_string(), expected);
            assert!(POOL.contains(&found));
        };
        check(0, "10.0.0.0/24", "100.64.0.0/24");
        check(12, "10.0.0.0/16", "100.64.12.0/24");
        check(256, "192.168.1.16/28", "100.65.0.0/28");
        check(MOST_SLOTS - 1, "10.0.0.0/24", "100.127.255.0/24");
    }

    #[test]
    fn an_alias_is_the_same_place_in_the_block() {
        let address: Ipv4Addr = "192.168.1.18".parse().unwrap();
        let network = Network {
            slot: slot(3),
            subnet: "192.168.1.16/28".parse().unwrap(),
            members: [(address, Member::default())].into(),
        };
        assert_eq!(alias(&network, address), Some("100.64.3.2".parse().unwrap()));
        assert_eq!(alias(&network, "192.168.1.17".parse().unwrap()), None);
        let all: Vec<String> =
            aliases(slot(3), network.subnet).map(|net| net.to_string()).collect();
        assert_eq!(all, ["100.64.3.2/31", "100.64.3.4/30", "100.64.3.8/29"]);
        let (host, own) = uplink(slot(3));
        assert_eq!(
            (host.to_string(), own.to_string()),
            ("100.64.3.0/31".into(), "100.64.3.1/31".into())
        );
    }

    #[test]
    fn a_slot_is_free_on_the_host_and_for_us() {
        let tag: Tag = "000005".parse().unwrap();
        let check = |taken: &[u16], host: &[&str], expected: Option<u16>| {
            let host: Vec<Ipv4Net> = host.iter().map(|net| net.parse().unwrap()).collect();
            let found = choose_slot(&tag, |slot| taken.contains(&slot.number()), &host);
            assert_eq!(found.ok().map(Slot::number), expected, "{taken:?} {host:?}");
        };
        check(&[], &[], Some(5));
        check(&[5, 6], &["100.64.7.9/32", "10.0.0.0/8"], Some(8));
        check(&[], &["100.64.0.0/16"], Some(256));
        check(&[], &["100.64.0.0/10"], None);
        let all: Vec<u16> = (0..MOST_SLOTS).filter(|number| *number != 4).collect();
        check(&all, &[], Some(4));
    }
}
