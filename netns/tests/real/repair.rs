//! What somebody else has changed is put right, and what is right is left alone.

use crate::fixture::{Host, own, published, reaches, sh};
use crate::outside::Outside;
use netns::{Error, Kind};
use std::net::SocketAddrV4;
use std::path::Path;

/// Where a change is made.
enum At {
    Host,
    Network,
    Member,
}

#[test]
fn what_is_right_is_left_alone_and_what_is_not_is_put_right() {
    let Some(mut host) = Host::new("repair") else { return };
    let outside = Outside::new(host.networks.tag());
    let mut network = host.network(&[5, 6]);
    let member = network.members.get_mut(&own(5)).unwrap();
    member.published.push(published(outside.host, 20001));
    let all = [network];
    assert!(!host.make(&all).is_empty());
    assert_eq!(host.make(&all), Vec::<String>::new());
    let tag = host.networks.tag().to_string();
    let slot = all[0].slot;
    let (around, inside) = (format!("castellan-{tag}-{slot}"), host.inside(&all[0], 5));
    let around = Path::new("/run/netns").join(around);
    let block = netns::block(slot, all[0].subnet);
    let changes = [
        (At::Host, format!("ip link del cn{tag}-{slot}")),
        (At::Host, format!("ip link set cn{tag}-{slot} down")),
        (At::Host, format!("ip address flush dev cn{tag}-{slot}")),
        (At::Host, format!("ip route del {block}")),
        (At::Host, format!("echo 0 > /proc/sys/net/ipv4/conf/cn{tag}-{slot}/forwarding")),
        (At::Host, format!("nft delete table ip castellan_{tag}")),
        (At::Host, format!("nft flush chain ip castellan_{tag} published")),
        (At::Host, format!("nft flush set ip castellan_{tag} uids")),
        (At::Host, format!("ip address del {}/32 dev lo", host.control.address)),
        (At::Network, "nft flush ruleset".into()),
        (At::Network, "nft delete table netdev guard_5".into()),
        (At::Network, "nft insert rule ip castellan forward drop".into()),
        (At::Network, "ip link del uplink".into()),
        (At::Network, "ip link del br0".into()),
        (At::Network, "ip link set br0 down".into()),
        (At::Network, "ip link del s5".into()),
        (At::Network, "ip link set s5 down".into()),
        (At::Network, "ip link set s5 nomaster".into()),
        (At::Network, "ip route del default".into()),
        (At::Network, "echo 0 > /proc/sys/net/ipv4/ip_forward".into()),
        (At::Member, "nft flush ruleset".into()),
        (At::Member, "nft flush set inet castellan allowed".into()),
        (At::Member, "ip link del eth0".into()),
        (At::Member, "ip link set eth0 down".into()),
        (At::Member, "ip address flush dev eth0".into()),
        (At::Member, "ip route del default".into()),
        (At::Member, "ip link set lo down".into()),
        (At::Host, format!("ip netns del castellan-{tag}-{slot}-5")),
        (At::Host, format!("ip netns del castellan-{tag}-{slot}")),
    ];
    let port = SocketAddrV4::new(outside.host, 20001);
    for (at, change) in changes {
        let place = match at {
            At::Host => None,
            At::Network => Some(around.as_path()),
            At::Member => Some(inside.as_path()),
        };
        sh(place, &change);
        assert!(!host.make(&all).is_empty(), "{change}");
        assert_eq!(host.make(&all), Vec::<String>::new(), "{change}");
        host.serve(&all[0], 5);
        assert!(reaches(Some(&outside.inside()), port), "{change}");
        assert!(reaches(None, Host::alias(&all[0], 5)), "{change}");
        let neighbour = host.inside(&all[0], 6);
        assert!(reaches(Some(&neighbour), SocketAddrV4::new(own(5), 9094)), "{change}");
    }
    drop(outside);
    host.end();
}

#[test]
fn names_that_a_reboot_has_left_are_in_nobodys_way() {
    let Some(mut host) = Host::new("reboot") else { return };
    let network = host.network(&[5]);
    let tag = host.networks.tag().to_string();
    let around = format!("/run/netns/castellan-{tag}-{}", network.slot);
    sh(None, "mkdir -p /run/netns");
    for name in [around.clone(), format!("{around}-5"), format!("{around}-6")] {
        std::fs::write(name, "").unwrap();
    }
    let stale = netns::found().unwrap().into_iter().filter(|found| found.tag.to_string() == tag);
    assert_eq!(stale.filter(|found| found.is_stale).count(), 3);
    host.make(std::slice::from_ref(&network));
    host.serve(&network, 5);
    assert!(reaches(None, Host::alias(&network, 5)));
    let found = netns::found().unwrap().into_iter().filter(|found| found.tag.to_string() == tag);
    let found: Vec<(Kind, bool)> = found.map(|found| (found.kind, found.is_stale)).collect();
    let expected =
        [Kind::Table, Kind::Address, Kind::Network, Kind::Member, Kind::Link].map(|it| (it, false));
    assert_eq!(found.len(), expected.len(), "{found:?}");
    assert!(expected.iter().all(|it| found.contains(it)), "{found:?}");
    host.end();
}

#[test]
fn a_range_that_is_anothers_is_not_taken() {
    let Some(mut host) = Host::new("range") else { return };
    let outside = Outside::new(host.networks.tag());
    let network = host.network(&[5]);
    let block = netns::block(network.slot, network.subnet);
    let link = format!("ou{}", host.networks.tag());
    sh(None, &format!("ip route add {block} dev {link}"));
    host.networks.make_host(&host.control, std::slice::from_ref(&network)).unwrap();
    let refused = host.networks.make(&network, &host.control).unwrap_err();
    assert!(matches!(&refused, Error::RangeTaken { link: other, .. } if *other == link));
    let taken = netns::host_networks().unwrap();
    let other = netns::choose_slot(host.networks.tag(), |_| false, &taken).unwrap();
    assert_ne!(other, network.slot);
    sh(None, &format!("ip route del {block} dev {link}"));
    host.make(std::slice::from_ref(&network));
    drop(outside);
    host.end();
}

/// Others' rules, links and addresses stay, also where they look like ours.
#[test]
fn what_is_not_ours_is_not_touched() {
    let Some(mut host) = Host::new("others") else { return };
    let network = host.network(&[5]);
    let tag = host.networks.tag().clone();
    let foreign = format!("castellan-other-{tag}");
    sh(
        None,
        &format!(
            "ip netns add {foreign}; ip link add cnx{tag} type veth peer name cny{tag}
         nft add table ip castellanx_{tag}"
        ),
    );
    host.make(std::slice::from_ref(&network));
    let (_, errors) = netns::remove_found(&tag, &[]).unwrap();
    assert!(errors.is_empty());
    sh(
        None,
        &format!(
            "ip link show cnx{tag} > /dev/null; nft list table ip castellanx_{tag} > /dev/null
         ip link del cnx{tag}; ip netns del {foreign}; nft delete table ip castellanx_{tag}"
        ),
    );
    host.end();
}
