//! A member: a namespace with one link to its network's bridge.

use crate::kernel::{self, Kernel, Place, is_namespace};
use crate::make::{Networks, address, are_pair, route, unmake, up};
use crate::rules::{BRIDGE, firewall};
use crate::seen::Seen;
use crate::{Error, Network, Rule, settings};
use ipnet::Ipv4Net;
use std::fs;
use std::net::Ipv4Addr;

/// What a member calls its card.
const CARD: &str = "eth0";

/// The network's end of the link of the member that has this place.
pub(crate) fn link(place: u8) -> String {
    format!("s{place}")
}

/// The number of its card: ours to give, as its second bit says, and its address.
pub(crate) fn card(address: Ipv4Addr) -> String {
    let [a, b, c, d] = address.octets();
    format!("02:ca:{a:02x}:{b:02x}:{c:02x}:{d:02x}")
}

impl Networks {
    /// Gives the namespace in which that process lives its name as the member's, if somebody
    /// has taken the name away: what runs there goes on. Does nothing for a process of the host.
    pub fn adopt(&self, network: &Network, member: Ipv4Addr, pid: i32) -> Result<(), Error> {
        let Some(place) = network.place(member) else { return Ok(()) };
        let lock = self.lock(Some(network.slot));
        let _lock = lock.lock().expect("no holder of this lock panics");
        let name = self.tag.member(network.slot, place);
        if is_namespace(&name) || !is_apart(pid) {
            return Ok(());
        }
        let kernel = self.kernel();
        kernel.clear_name(&name)?;
        kernel.ip(&Place::Host, &[format!("netns attach {name} {pid}")])
    }

    /// The network's end stays down: the caller sets it up when its guard is there.
    pub(crate) fn make_member(
        &self,
        kernel: &Kernel,
        network: &Network,
        inside: &Seen,
        (number, own): (u8, Ipv4Addr),
        rules: &[Rule],
    ) -> Result<(), Error> {
        let name = self.tag.member(network.slot, number);
        let around = Place::In(self.tag.network(network.slot));
        let place = Place::In(name.clone());
        kernel.make_namespace(&name)?;
        kernel.set(&place, &settings::member())?;
        self.lists.ensure(kernel, &place, &[firewall(rules)])?;

        let (link, mut seen) = (link(number), kernel::look(&place)?);
        let bridge = inside.link(&link).and_then(|link| link.bridge.as_deref());
        if !are_pair(inside, &link, &seen, CARD) {
            unmake(kernel, &around, inside, &link)?;
            // If it was of a pair, it has just gone with its other end.
            unmake(kernel, &place, &kernel::look(&place)?, CARD)?;
            let card = card(own);
            let made =
                format!("link add {link} type veth peer name {CARD} address {card} netns {name}");
            kernel.ip(&around, &[made, format!("link set {link} master {BRIDGE}")])?;
            seen = kernel::look(&place)?;
        } else if bridge != Some(BRIDGE) {
            kernel.ip(&around, &[format!("link set {link} master {BRIDGE}")])?;
        }
        let mut commands = Vec::new();
        up(&mut commands, &seen, "lo");
        let net = Ipv4Net::new_assert(own, network.subnet.prefix_len());
        address(&mut commands, &seen, CARD, net);
        up(&mut commands, &seen, CARD);
        route(&mut commands, &seen, Ipv4Net::default(), network.gateway(), CARD);
        kernel.ip(&place, &commands)
    }
}

/// Whether a process is in another network namespace than we are.
fn is_apart(pid: i32) -> bool {
    let own = fs::read_link("/proc/self/ns/net").ok();
    let others = fs::read_link(format!("/proc/{pid}/ns/net")).ok();
    own.zip(others).is_some_and(|(own, others)| own != others)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_card_is_told_by_its_address() {
        assert_eq!(card("10.9.0.255".parse().unwrap()), "02:ca:0a:09:00:ff");
        assert_eq!(link(254), "s254");
    }
}
