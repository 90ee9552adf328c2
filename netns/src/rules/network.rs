//! Rules in a network's own namespace: which alias is which member, and what leaves.

use super::{CLOSED, TABLE, Table, elements};
use crate::{Control, Network, ranges};

/// The link to the host, and the bridge of the members.
pub(crate) const UPLINK: &str = "uplink";
pub(crate) const BRIDGE: &str = "br0";

/// Members begin connections to each other, to the control plane and to published ports of
/// their own network, which are told apart from others by the host.
pub(crate) fn network(network: &Network, control: &Control) -> Table {
    let block = ranges::block(network.slot, network.subnet);
    let members = ranges::members(network.subnet);
    let published = network.members.values().flat_map(|member| &member.published);
    let at_one = published.clone().filter_map(|it| it.at.map(|at| format!("{at} . {}", it.port)));
    let at_all = published.filter(|it| it.at.is_none()).map(|it| it.port.to_string());
    let exits = control.exits().map(|exit| format!("{} . {}", exit.ip(), exit.port()));
    let exits = elements(exits.chain(at_one));
    let ports = elements(at_all);
    let body = format!(
        "  set exits {{
    type ipv4_addr . inet_service
{exits}  }}
  set ports {{
    type inet_service
{ports}  }}
  chain prerouting {{
    type nat hook prerouting priority dstnat; policy accept;
    iifname \"{UPLINK}\" dnat ip prefix to ip daddr map {{ {block} : {members} }}
  }}
  chain postrouting {{
    type nat hook postrouting priority srcnat; policy accept;
    oifname \"{UPLINK}\" snat ip prefix to ip saddr map {{ {members} : {block} }}
  }}
  chain input {{
    type filter hook input priority filter; policy drop;
    iifname \"lo\" accept
    iifname \"{BRIDGE}\" icmp type echo-request accept
    iifname \"{BRIDGE}\" jump closed
  }}
  chain forward {{
    type filter hook forward priority filter; policy drop;
    iifname \"{BRIDGE}\" oifname \"{BRIDGE}\" accept
    iifname \"{UPLINK}\" oifname \"{BRIDGE}\" accept
    iifname \"{BRIDGE}\" oifname \"{UPLINK}\" jump leaving
  }}
  chain leaving {{
    ct state established,related ct direction reply accept
    ct state related accept
    ip daddr . tcp dport @exits accept
    tcp dport @ports accept
    jump closed
  }}
{CLOSED}"
    );
    Table { family: "ip", name: TABLE.into(), body }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Member, Published, Slot};

    #[test]
    fn what_leaves_is_the_control_plane_and_what_is_published() {
        let at = Some("192.0.2.7".parse().unwrap());
        let member = Member {
            rules: vec![],
            published: vec![
                Published { at, port: 20001, to: 9094 },
                Published { at: None, port: 20002, to: 9093 },
            ],
        };
        let described = Network {
            slot: Slot::new(3).unwrap(),
            subnet: "10.1.0.0/16".parse().unwrap(),
            members: [("10.1.0.5".parse().unwrap(), member)].into(),
        };
        let control =
            Control { address: "100.64.9.1".parse().unwrap(), ports: vec![7003], uids: vec![0] };
        let body = network(&described, &control).body;
        assert!(body.contains("elements = { 100.64.9.1 . 7003, 192.0.2.7 . 20001 }"), "{body}");
        assert!(body.contains("elements = { 20002 }"), "{body}");
        assert!(body.contains("ip daddr map { 100.64.3.0/24 : 10.1.0.0/24 }"), "{body}");
        assert!(body.contains("ip saddr map { 10.1.0.0/24 : 100.64.3.0/24 }"), "{body}");
    }
}
