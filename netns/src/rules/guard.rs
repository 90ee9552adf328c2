//! What may come from a member at all: IPv4 and ARP of its own address, from its own card. It
//! is on the network's end of the link, where no code of the member's can change it.

use super::Table;
use std::net::Ipv4Addr;

pub(crate) fn guard(place: u8, link: &str, address: Ipv4Addr, card: &str) -> Table {
    let body = format!(
        "  chain ingress {{
    type filter hook ingress device \"{link}\" priority 0; policy drop;
    ether saddr {card} ip saddr {address} accept
    ether saddr {card} arp saddr ether {card} arp saddr ip {address} accept
  }}
"
    );
    Table { family: "netdev", name: format!("guard_{place}"), body }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_address_and_one_card_pass() {
        let table = guard(5, "s5", "10.9.0.5".parse().unwrap(), "02:ca:0a:09:00:05");
        assert_eq!(table.title(), "netdev guard_5");
        assert_eq!(table.body.matches("02:ca:0a:09:00:05").count(), 3);
        assert_eq!(table.body.matches("10.9.0.5 accept").count(), 2);
        assert!(table.body.contains("device \"s5\"") && table.body.contains("policy drop"));
    }
}
