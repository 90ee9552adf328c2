//! What a private network on record means for the kernel.

use super::book::{Seat, Vpc};
use ipnet::Ipv4Net;
use netns::{Control, Member, Network, Rule};

/// From the controllers' listener to the last of the customers'.
const FIRST_PORT: u16 = 9090;
const LAST_PORT: u16 = 9094;
/// The first of the customers'.
const PLAINTEXT: u16 = 9092;

/// Servers of one instance and the control plane reach every listener of a server; others what
/// is opened to them, and servers of other instances in the network are others.
pub(crate) fn describe(vpc: &Vpc, control: &Control) -> Network {
    let members = vpc.seats.values().map(|seat| {
        let own = vpc.seats.values().filter(|other| other.instance_id == seat.instance_id);
        let own = own.map(|other| Ipv4Net::from(other.address));
        let insiders = own.chain([Ipv4Net::from(control.address)]);
        let mut rules: Vec<Rule> =
            insiders.map(|from| Rule { from, first: FIRST_PORT, last: LAST_PORT }).collect();
        rules.extend(openings(seat, vpc));
        (seat.address, Member { rules, published: seat.published.clone() })
    });
    Network { slot: vpc.slot, subnet: vpc.subnet, members: members.collect() }
}

/// What nobody has said anything about yet is open to the network itself. Who comes from the
/// network to a port that the host forwards bears its alias.
fn openings(seat: &Seat, vpc: &Vpc) -> Vec<Rule> {
    let subnet = vpc.subnet;
    let own = || vec![Rule { from: subnet, first: PLAINTEXT, last: LAST_PORT }];
    let mut all = seat.openings.clone().unwrap_or_else(own);
    let of_network: Vec<Rule> = all.iter().filter(|rule| rule.from == subnet).copied().collect();
    for rule in of_network {
        let aliases = netns::aliases(vpc.slot, subnet);
        all.extend(aliases.map(|from| Rule { from, ..rule }));
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vpcs::Newcomer;
    use model::{InstanceId, ServerId};
    use netns::Slot;

    #[test]
    fn one_instance_is_open_to_itself_and_closed_to_its_neighbour() {
        let mut vpc = Vpc {
            slot: Slot::new(3).unwrap(),
            subnet: "10.1.2.0/24".parse().unwrap(),
            seats: <_>::default(),
        };
        for (server, instance) in [(1, 1), (2, 1), (3, 2)] {
            let newcomer = Newcomer {
                server: ServerId(server),
                instance: InstanceId(instance),
                wanted: None,
                published: vec![],
            };
            vpc.seat(&newcomer).unwrap();
        }
        vpc.seats.get_mut(&ServerId(3)).unwrap().openings = Some(vec![]);
        let control =
            Control { address: "100.64.9.1".parse().unwrap(), ports: vec![7443], uids: vec![0] };
        let network = describe(&vpc, &control);
        network.check().unwrap();
        let rules = |last: u8| -> Vec<String> {
            let member = &network.members[&std::net::Ipv4Addr::new(10, 1, 2, last)];
            let words = |rule: &Rule| format!("{} {}-{}", rule.from, rule.first, rule.last);
            member.rules.iter().map(words).collect()
        };
        let expected = [
            "10.1.2.4/32 9090-9094",
            "10.1.2.5/32 9090-9094",
            "100.64.9.1/32 9090-9094",
            "10.1.2.0/24 9092-9094",
            "100.64.3.2/31 9092-9094",
            "100.64.3.4/30 9092-9094",
        ];
        assert_eq!(rules(4)[..6], expected);
        assert_eq!(rules(5), rules(4));
        assert_eq!(rules(6), ["10.1.2.6/32 9090-9094", "100.64.9.1/32 9090-9094"]);
    }
}
