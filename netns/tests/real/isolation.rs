//! Who reaches whom.

use crate::fixture::{Connection, Host, PORT, own, published, reaches, serve, sh};
use crate::outside::Outside;
use host::within;
use netns::Rule;
use std::net::{SocketAddrV4, TcpListener, TcpStream};

fn at(last: u8) -> SocketAddrV4 {
    SocketAddrV4::new(own(last), PORT)
}

#[test]
fn two_networks_with_the_same_subnet_serve_and_do_not_meet() {
    let Some(mut host) = Host::new("two networks") else { return };
    let outside = Outside::new(host.networks.tag());
    let (mut one, mut other) = (host.network(&[5, 6]), host.network(&[5, 7]));
    for (network, port) in [(&mut one, 20001), (&mut other, 20002)] {
        let member = network.members.get_mut(&own(5)).unwrap();
        member.published.push(published(outside.host, port));
    }
    let all = [one, other];
    host.make(&all);
    for (network, last) in [(&all[0], 5), (&all[0], 6), (&all[1], 5), (&all[1], 7)] {
        host.serve(network, last);
        assert!(reaches(None, Host::alias(network, last)));
    }
    let [one, other] = &all;
    let (from_one, from_other) = (host.inside(one, 5), host.inside(other, 5));
    // Their own.
    assert!(reaches(Some(&from_one), at(6)) && reaches(Some(&from_other), at(7)));
    // Not those of the other, by no address and not by the port that all others may use.
    assert!(!reaches(Some(&from_one), at(7)) && !reaches(Some(&from_other), at(6)));
    for last in [5, 7] {
        assert!(!reaches(Some(&from_one), Host::alias(other, last)));
    }
    let port = |port| SocketAddrV4::new(outside.host, port);
    assert!(!reaches(Some(&from_one), port(20002)) && !reaches(Some(&from_other), port(20001)));
    assert!(reaches(Some(&from_one), port(20001)) && reaches(Some(&from_other), port(20002)));
    assert!(reaches(Some(&host.inside(one, 6)), port(20001)));
    drop(outside);
    host.end();
}

#[test]
fn of_the_host_a_member_reaches_the_control_plane_alone() {
    let Some(mut host) = Host::new("control plane") else { return };
    let outside = Outside::new(host.networks.tag());
    let network = host.network(&[5]);
    host.make(std::slice::from_ref(&network));
    let control = |port| SocketAddrV4::new(host.control.address, port);
    serve(None, control(7003));
    serve(None, control(7004));
    serve(None, SocketAddrV4::new(outside.host, 7003));
    serve(Some(&outside.inside()), SocketAddrV4::new(outside.own, 7003));
    let inside = host.inside(&network, 5);
    assert!(reaches(Some(&inside), control(7003)));
    assert!(!reaches(Some(&inside), control(7004)));
    // Also not by the host's end of its own link.
    let link = SocketAddrV4::new(netns::block(network.slot, network.subnet).network(), 7003);
    for other in [
        SocketAddrV4::new(outside.host, 7003),
        SocketAddrV4::new(outside.own, 7003),
        SocketAddrV4::new("169.254.169.254".parse().unwrap(), 80),
        link,
    ] {
        let refused = Connection::open(Some(&inside), other).err().unwrap();
        // At once, so that nothing in a broker waits for an answer that never comes.
        assert_ne!(refused.kind(), std::io::ErrorKind::TimedOut, "{other} {refused}");
    }
    // The control plane's address is for members, not for other machines.
    assert!(!reaches(Some(&outside.inside()), control(7003)) && reaches(None, control(7003)));
    drop(outside);
    host.end();
}

#[test]
fn neighbours_reach_the_ports_that_a_rule_names() {
    let Some(mut host) = Host::new("neighbours") else { return };
    let mut network = host.network(&[5, 6, 7]);
    let only = Rule::new(own(6).into(), PORT);
    network.members.get_mut(&own(5)).unwrap().rules = vec![only];
    host.make(std::slice::from_ref(&network));
    host.serve(&network, 5);
    let hidden = SocketAddrV4::new(own(5), 9091);
    serve(Some(&host.inside(&network, 5)), hidden);
    assert!(reaches(Some(&host.inside(&network, 6)), at(5)));
    assert!(!reaches(Some(&host.inside(&network, 6)), hidden));
    assert!(!reaches(Some(&host.inside(&network, 7)), at(5)));
    // What is its own it reaches all the same.
    assert!(reaches(Some(&host.inside(&network, 5)), hidden));
    host.end();
}

#[test]
fn a_member_can_take_no_other_address() {
    let Some(mut host) = Host::new("addresses") else { return };
    let network = host.network(&[5, 6]);
    host.make(std::slice::from_ref(&network));
    host.serve(&network, 6);
    let inside = host.inside(&network, 5);
    assert!(reaches(Some(&inside), at(6)));
    sh(Some(&inside), "ip address add 10.90.0.66/24 dev eth0");
    // As a client whose source it is, and as a server.
    let script = "ip route replace 10.90.0.6/32 dev eth0 src 10.90.0.66";
    sh(Some(&inside), script);
    assert!(!reaches(Some(&inside), at(6)));
    sh(Some(&inside), "ip route del 10.90.0.6/32");
    assert!(reaches(Some(&inside), at(6)));
    let taken = SocketAddrV4::new("10.90.0.66".parse().unwrap(), PORT);
    serve(Some(&inside), taken);
    assert!(!reaches(Some(&host.inside(&network, 6)), taken));
    // Nor with another card.
    sh(Some(&inside), "ip link set eth0 address 02:00:00:00:00:01");
    assert!(!reaches(Some(&inside), at(6)));
    host.end();
}

#[test]
fn inside_there_is_no_ipv6() {
    let Some(mut host) = Host::new("ipv6") else { return };
    let network = host.network(&[5]);
    host.make(std::slice::from_ref(&network));
    let inside = host.inside(&network, 5);
    assert_eq!(sh(Some(&inside), "ip -6 address; ip -6 route"), "");
    let bound = within(Some(&inside), || TcpListener::bind("[::1]:0"));
    assert!(bound.is_err());
    // The namespace's loopback is not the host's.
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let there = listener.local_addr().unwrap();
    assert!(within(Some(&inside), || TcpStream::connect(there)).is_err());
    host.end();
}

/// A rule can let the control plane in and keep clients on the same host out.
#[test]
fn a_rule_tells_the_control_plane_from_clients_on_this_host() {
    let Some(mut host) = Host::new("insiders") else { return };
    let outside = Outside::new(host.networks.tag());
    let mut network = host.network(&[5]);
    let member = network.members.get_mut(&own(5)).unwrap();
    member.rules = vec![Rule::new(host.control.address.into(), PORT)];
    member.published.push(published(outside.host, 20001));
    host.make(std::slice::from_ref(&network));
    host.serve(&network, 5);
    assert!(reaches(None, Host::alias(&network, 5)));
    assert!(!reaches(None, SocketAddrV4::new(outside.host, 20001)));
    drop(outside);
    host.end();
}
