//! Another machine: a namespace that knows the way to this host and nothing of its networks.

use crate::fixture::{Connection, Host, PORT, anyone, own, published, reaches, sh};
use netns::{Network, Rule};
use std::io::ErrorKind;
use std::net::{Ipv4Addr, SocketAddrV4};
use std::path::{Path, PathBuf};

pub struct Outside {
    name: String,
    link: String,
    /// This host, as that machine knows it.
    pub host: Ipv4Addr,
    pub own: Ipv4Addr,
}

impl Outside {
    pub fn new(tag: &netns::Tag) -> Self {
        let (name, link) = (format!("outside-{tag}"), format!("ou{tag}"));
        // Of the range for measuring networks, which nothing uses.
        let number = u32::from_str_radix(&tag.to_string(), 16).unwrap() % (1 << 14);
        let first = Ipv4Addr::new(198, 18, 0, 0).to_bits() + number * 4;
        let (host, own) = (Ipv4Addr::from_bits(first + 1), Ipv4Addr::from_bits(first + 2));
        let outside = Self { name, link, host, own };
        let Self { name, link, .. } = &outside;
        sh(
            None,
            &format!(
                "ip netns add {name}
             ip link add {link} type veth peer name eth0 netns {name}
             ip address add {host}/30 dev {link}
             ip link set {link} up
             echo 1 > /proc/sys/net/ipv4/conf/{link}/forwarding
             ip -n {name} link set lo up
             ip -n {name} address add {own}/30 dev eth0
             ip -n {name} link set eth0 up
             ip -n {name} route add default via {host}"
            ),
        );
        outside
    }

    pub fn inside(&self) -> PathBuf {
        Path::new("/run/netns").join(&self.name)
    }
}

impl Drop for Outside {
    fn drop(&mut self) {
        let script = format!("ip link del {}; ip netns del {}", self.link, self.name);
        // What it has left, the test sees.
        let _ = host::run_within(None, "sh", &["-c", &script], "");
    }
}

fn one_published(host: &mut Host, outside: &Outside) -> Network {
    let mut network = host.network(&[5]);
    let member = network.members.get_mut(&own(5)).unwrap();
    member.published.push(published(outside.host, 20001));
    network
}

fn allow(network: &mut Network, rules: &[Rule]) {
    network.members.get_mut(&own(5)).unwrap().rules = rules.to_vec();
}

#[test]
fn it_reaches_what_is_published_and_allowed() {
    let Some(mut host) = Host::new("published") else { return };
    let outside = Outside::new(host.networks.tag());
    let there = outside.inside();
    let mut network = one_published(&mut host, &outside);
    host.make(std::slice::from_ref(&network));
    host.serve(&network, 5);
    let port = |port| SocketAddrV4::new(outside.host, port);
    let alias = Host::alias(&network, 5);
    assert!(reaches(Some(&there), port(20001)));
    // Neither an address behind the host nor another port of it.
    assert!(!reaches(Some(&there), port(PORT)) && !reaches(Some(&there), alias));
    assert!(!reaches(Some(&there), SocketAddrV4::new(own(5), PORT)));
    // Its address arrives as it is, so that rules can tell it from others.
    let mut check = |rules: &[Rule], expected: bool| {
        allow(&mut network, rules);
        host.make(std::slice::from_ref(&network));
        assert_eq!(reaches(Some(&there), port(20001)), expected, "{rules:?}");
    };
    let only = |address: Ipv4Addr| Rule::new(address.into(), PORT);
    check(&[only(outside.own)], true);
    check(&[only(outside.host)], false);
    check(&[Rule::new(anyone(), PORT - 1)], false);
    check(&[], false);
    check(&[only(outside.host), Rule { from: anyone(), first: 9000, last: 9100 }], true);
    drop(outside);
    host.end();
}

#[test]
fn a_tightened_rule_ends_old_connections_at_once() {
    let Some(mut host) = Host::new("tightened") else { return };
    let outside = Outside::new(host.networks.tag());
    let there = outside.inside();
    let mut network = one_published(&mut host, &outside);
    host.make(std::slice::from_ref(&network));
    host.serve(&network, 5);
    let port = SocketAddrV4::new(outside.host, 20001);
    let mut from_outside = Connection::open(Some(&there), port).unwrap();
    let mut from_host = Connection::open(None, port).unwrap();
    allow(&mut network, &[Rule::new(outside.host.into(), PORT)]);
    host.make(std::slice::from_ref(&network));
    let ended = from_outside.ask().unwrap_err();
    assert_eq!(ended.kind(), ErrorKind::ConnectionReset);
    from_host.ask().unwrap();
    drop(outside);
    host.end();
}

#[test]
fn a_port_that_is_published_no_more_ends_its_connections() {
    let Some(mut host) = Host::new("unpublished") else { return };
    let outside = Outside::new(host.networks.tag());
    let there = outside.inside();
    let mut network = one_published(&mut host, &outside);
    host.make(std::slice::from_ref(&network));
    host.serve(&network, 5);
    let port = SocketAddrV4::new(outside.host, 20001);
    let mut all =
        [Connection::open(Some(&there), port).unwrap(), Connection::open(None, port).unwrap()];
    network.members.get_mut(&own(5)).unwrap().published.clear();
    host.make(std::slice::from_ref(&network));
    for connection in &mut all {
        let ended = connection.ask().unwrap_err();
        assert_eq!(ended.kind(), ErrorKind::ConnectionReset);
    }
    assert!(!reaches(Some(&there), port) && !reaches(None, port));
    drop(outside);
    host.end();
}

/// It takes a port of the host's own loopback address, and of no other of them.
#[test]
fn clients_on_this_host_come_by_its_loopback_address() {
    let Some(mut host) = Host::new("loopback") else { return };
    let mut network = host.network(&[5]);
    let listener = std::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    drop(listener);
    let everywhere = netns::Published { at: None, port, to: PORT };
    network.members.get_mut(&own(5)).unwrap().published.push(everywhere);
    host.make(std::slice::from_ref(&network));
    host.serve(&network, 5);
    assert!(reaches(None, SocketAddrV4::new(Ipv4Addr::LOCALHOST, port)));
    assert!(!reaches(None, SocketAddrV4::new(Ipv4Addr::new(127, 77, 0, 1), port)));
    let outside = Outside::new(host.networks.tag());
    assert!(reaches(Some(&outside.inside()), SocketAddrV4::new(outside.host, port)));
    drop(outside);
    host.end();
}
