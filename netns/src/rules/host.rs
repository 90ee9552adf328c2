//! Rules on the host: one table, which says nothing of what neither comes from our links nor
//! goes to them, but for the control plane's address.

use super::{CLOSED, Table, elements};
use crate::{Control, Network, Tag, ranges};
use std::net::Ipv4Addr;

/// Published ports lead to aliases, from outside and from this host. Other users than the
/// control plane's reach members by these alone; members reach the control plane and, through
/// their own link, published ports of their own network.
/// What leaves this host is told by its address: a packet to a published port had another link
/// when it began, and `oifname` still says so.
///
/// The control plane's connections come from its own address, so that rules can tell it from
/// clients on this host.
pub(crate) fn host(tag: &Tag, control: &Control, networks: &[Network]) -> Table {
    let links = tag.links();
    let Sets { at_one, at_all, own, blocks, passed } = Sets::of(tag, networks);
    let exits = elements(control.exits().map(|exit| format!("{} . {}", exit.ip(), exit.port())));
    let uids = elements(control.uids.iter().map(u32::to_string));
    let address = control.address;
    let body = format!(
        "  map at_one {{
    type ipv4_addr . inet_service : ipv4_addr . inet_service
{at_one}  }}
  map at_all {{
    type inet_service : ipv4_addr . inet_service
{at_all}  }}
  set own {{
    type ifname . ifname
{own}  }}
  set blocks {{
    type ipv4_addr
    flags interval
{blocks}  }}
  set exits {{
    type ipv4_addr . inet_service
{exits}  }}
  set uids {{
    type uid
{uids}  }}
  chain prerouting {{
    type nat hook prerouting priority dstnat; policy accept;
    fib daddr type local jump published
  }}
  chain output {{
    type nat hook output priority -100; policy accept;
    fib daddr type local jump published
  }}
  chain published {{
    ip daddr {address} return
    dnat ip to ip daddr . tcp dport map @at_one
    ip daddr != 127.0.0.0/8 dnat ip to tcp dport map @at_all
  }}
  chain postrouting {{
    type nat hook postrouting priority srcnat; policy accept;
    oifname != \"{links}\" accept
    ip saddr 127.0.0.0/8 masquerade
    ct status dnat accept
    meta skuid @uids snat to {address}
  }}
  chain input {{
    type filter hook input priority filter; policy accept;
    iifname \"lo\" accept
    iifname != \"{links}\" ip daddr {address} jump closed
    iifname != \"{links}\" accept
    ct state established,related ct direction reply accept
    ct state related accept
    ip daddr . tcp dport @exits accept
    jump closed
  }}
  chain forward {{
    type filter hook forward priority filter; policy accept;
    iifname \"{links}\" ct state established,related ct direction reply accept
    iifname \"{links}\" ct state related accept
    iifname \"{links}\" iifname . oifname != @own jump closed
    oifname \"{links}\" jump arriving
  }}
  chain reaching {{
    type filter hook output priority filter; policy accept;
    ip daddr != @blocks accept
    ct state established,related ct direction reply accept
    ct state related accept
    ct status dnat jump arriving
    meta skuid @uids accept
    jump closed
  }}
  chain arriving {{
{passed}    jump closed
  }}
{CLOSED}"
    );
    Table { family: "ip", name: tag.table(), body }
}

struct Sets {
    at_one: String,
    at_all: String,
    own: String,
    blocks: String,
    passed: String,
}

impl Sets {
    fn of(tag: &Tag, networks: &[Network]) -> Self {
        let (mut at_one, mut at_all, mut ports) = (vec![], vec![], vec![]);
        for network in networks {
            for (address, member) in &network.members {
                let Some(alias) = ranges::alias(network, *address) else { continue };
                for it in &member.published {
                    let to = format!("{alias} . {}", it.to);
                    // For everywhere, its loopback is one address and not all that it has: other
                    // programs of this host live on the others.
                    let at = it.at.unwrap_or(Ipv4Addr::LOCALHOST);
                    at_one.push(format!("{at} . {} : {to}", it.port));
                    if it.at.is_none() {
                        at_all.push(format!("{} : {to}", it.port));
                    }
                    ports.push(it.port.to_string());
                }
            }
        }
        let blocks = networks.iter().map(|it| ranges::block(it.slot, it.subnet).to_string());
        let own = networks.iter().map(|it| tag.link(it.slot));
        ports.sort();
        ports.dedup();
        // Of the connection, not of its beginning alone: one whose port is not published any
        // more ends.
        let passed = if ports.is_empty() {
            String::new()
        } else {
            let ports = ports.join(", ");
            format!(
                "    meta l4proto tcp ct direction original ct status dnat \
                 ct original proto-dst {{ {ports} }} accept\n"
            )
        };
        Self {
            at_one: elements(at_one),
            at_all: elements(at_all),
            blocks: elements(blocks),
            own: elements(own.map(|link| format!("\"{link}\" . \"{link}\""))),
            passed,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Member, Published, Slot};

    fn body(published: &[Published]) -> String {
        let member = Member { rules: vec![], published: published.to_vec() };
        let network = Network {
            slot: Slot::new(3).unwrap(),
            subnet: "10.1.2.0/24".parse().unwrap(),
            members: [("10.1.2.5".parse().unwrap(), member)].into(),
        };
        let control =
            Control { address: "100.64.9.1".parse().unwrap(), ports: vec![7003], uids: vec![0] };
        host(&"0a3f2c".parse().unwrap(), &control, &[network]).body
    }

    #[test]
    fn a_published_port_leads_to_an_alias() {
        let check = |at: Option<&str>, one: &str, all: Option<&str>| {
            let at = at.map(|at| at.parse().unwrap());
            let body = body(&[Published { at, port: 20001, to: 9094 }]);
            assert!(body.contains(&format!("elements = {{ {one} }}\n")), "{body}");
            match all {
                Some(all) => assert!(body.contains(&format!("elements = {{ {all} }}\n")), "{body}"),
                None => assert!(!body.contains("{ 20001 : "), "{body}"),
            }
            assert!(body.contains("ct original proto-dst { 20001 } accept"), "{body}");
        };
        check(Some("192.0.2.7"), "192.0.2.7 . 20001 : 100.64.3.5 . 9094", None);
        check(None, "127.0.0.1 . 20001 : 100.64.3.5 . 9094", Some("20001 : 100.64.3.5 . 9094"));
    }

    #[test]
    fn without_published_ports_nobody_arrives() {
        let body = body(&[]);
        assert!(body.contains("chain arriving {\n    jump closed\n"), "{body}");
    }
}
