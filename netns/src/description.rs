//! What should be, in words that the kernel's tools understand: no instance, no Kafka.

use crate::{Error, Slot};
use ipnet::Ipv4Net;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::net::{Ipv4Addr, SocketAddrV4};

/// One private network. Several may have the same subnet.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Network {
    pub slot: Slot,
    pub subnet: Ipv4Net,
    /// By their addresses, of the first 256 of the subnet.
    #[serde(default)]
    pub members: BTreeMap<Ipv4Addr, Member>,
}

#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Member {
    /// Who may connect to it where. Nobody else may.
    #[serde(default)]
    pub rules: Vec<Rule>,
    /// Where the host takes connections for it.
    #[serde(default)]
    pub published: Vec<Published>,
}

/// Connections from a network to the ports from `first` to `last`, over TCP.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub struct Rule {
    pub from: Ipv4Net,
    pub first: u16,
    pub last: u16,
}

impl Rule {
    pub fn new(from: Ipv4Net, port: u16) -> Self {
        Self { from, first: port, last: port }
    }
}

/// A port of the host that leads to a port of a member.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub struct Published {
    /// None is every address of the host, and of its loopback 127.0.0.1 alone.
    pub at: Option<Ipv4Addr>,
    pub port: u16,
    pub to: u16,
}

/// What members may reach on the host, and who may reach every port of theirs that a rule opens.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Control {
    /// An address of the pool, that the host has on its loopback link. Members see it as the
    /// source of what these users connect to.
    pub address: Ipv4Addr,
    pub ports: Vec<u16>,
    /// Users of the host who may connect to aliases. Others have published ports alone.
    pub uids: Vec<u32>,
}

impl Control {
    pub(crate) fn exits(&self) -> impl Iterator<Item = SocketAddrV4> {
        self.ports.iter().map(|port| SocketAddrV4::new(self.address, *port))
    }
}

/// Places in a subnet that no member can have: the network's own address, and its gateway's.
const FIRST_PLACE: u32 = 2;
const MOST_MEMBERS: u32 = 256;

impl Network {
    pub fn gateway(&self) -> Ipv4Addr {
        Ipv4Addr::from_bits(self.subnet.network().to_bits() + 1)
    }

    /// The place of an address in the subnet, if a member can have it.
    pub(crate) fn place(&self, address: Ipv4Addr) -> Option<u8> {
        let place = address.to_bits().checked_sub(self.subnet.network().to_bits())?;
        let fits = (FIRST_PLACE..MOST_MEMBERS).contains(&place)
            && address.to_bits() < self.subnet.broadcast().to_bits();
        u8::try_from(place).ok().filter(|_| fits)
    }

    /// The places of the members.
    pub(crate) fn places(&self) -> impl Iterator<Item = (u8, Ipv4Addr, &Member)> {
        self.members
            .iter()
            .filter_map(|(address, member)| Some((self.place(*address)?, *address, member)))
    }

    /// Refuses what could not be made, before anything is.
    pub fn check(&self) -> Result<(), Error> {
        let refuse = |why: String| Err(Error::Description(why));
        let subnet = self.subnet;
        if subnet.trunc() != subnet || !(16..=28).contains(&subnet.prefix_len()) {
            return refuse(format!("{subnet} is no network of 16 to 28 bits"));
        }
        if !subnet.network().is_private() {
            return refuse(format!("{subnet} is not private"));
        }
        for (address, member) in &self.members {
            if self.place(*address).is_none() {
                return refuse(format!(
                    "{address} is not one of the first {MOST_MEMBERS} of {subnet} that members \
                     can have"
                ));
            }
            if let Some(rule) = member.rules.iter().find(|rule| rule.first > rule.last) {
                return refuse(format!("there are no ports from {} to {}", rule.first, rule.last));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn network(subnet: &str, members: &[&str]) -> Network {
        let members = members.iter().map(|it| (it.parse().unwrap(), Member::default())).collect();
        Network { slot: Slot::new(1).unwrap(), subnet: subnet.parse().unwrap(), members }
    }

    #[test]
    fn what_can_not_be_made_is_refused() {
        let check = |subnet: &str, members: &[&str], words: &str| {
            let said = network(subnet, members).check().err().map(|it| it.to_string());
            assert_eq!(said.unwrap_or_default(), words, "{subnet} {members:?}");
        };
        check("10.1.2.0/24", &["10.1.2.2", "10.1.2.254"], "");
        check("10.1.0.0/16", &["10.1.0.255"], "");
        check("192.168.7.16/28", &["192.168.7.18", "192.168.7.30"], "");
        let range = |address, subnet| {
            format!("{address} is not one of the first 256 of {subnet} that members can have")
        };
        for address in ["10.1.2.0", "10.1.2.1", "10.1.2.255", "10.1.3.2", "10.1.1.2", "9.9.9.9"] {
            check("10.1.2.0/24", &[address], &range(address, "10.1.2.0/24"));
        }
        check("10.1.0.0/16", &["10.1.1.0"], &range("10.1.1.0", "10.1.0.0/16"));
        check("192.168.7.16/28", &["192.168.7.31"], &range("192.168.7.31", "192.168.7.16/28"));
        check("10.1.2.1/24", &[], "10.1.2.1/24 is no network of 16 to 28 bits");
        check("10.1.2.0/29", &[], "10.1.2.0/29 is no network of 16 to 28 bits");
        check("10.0.0.0/8", &[], "10.0.0.0/8 is no network of 16 to 28 bits");
        check("8.8.8.0/24", &[], "8.8.8.0/24 is not private");
    }

    #[test]
    fn what_was_written_is_read_again() {
        let mut network = network("10.1.2.0/24", &["10.1.2.5"]);
        let member = network.members.values_mut().next().unwrap();
        member.rules.push(Rule::new("0.0.0.0/0".parse().unwrap(), 9094));
        member.published.push(Published { at: None, port: 20001, to: 9094 });
        let text = serde_json::to_string(&network).unwrap();
        assert_eq!(serde_json::from_str::<Network>(&text).unwrap(), network);
        assert!(
            serde_json::from_str::<Network>(&text.replace("\"slot\":1", "\"slot\":70000")).is_err()
        );
    }
}
