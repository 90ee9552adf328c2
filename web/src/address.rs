//! Where a request really comes from.

use crate::state::Options;
use axum::extract::ConnectInfo;
use axum::http::{Extensions, HeaderMap, HeaderValue};
use ipnet::IpNet;
use std::net::{IpAddr, Ipv6Addr, SocketAddr};

/// The other end of the connection.
pub fn peer(extensions: &Extensions) -> Option<IpAddr> {
    extensions.get::<ConnectInfo<SocketAddr>>().map(|info| info.0.ip().to_canonical())
}

/// The client: the peer, or what a believed proxy says of it.
pub fn client(headers: &HeaderMap, extensions: &Extensions, options: &Options) -> Option<IpAddr> {
    let peer = peer(extensions)?;
    Some(behind_proxies(peer, headers, &options.proxies))
}

pub fn within(address: IpAddr, networks: &[IpNet]) -> bool {
    networks.iter().any(|network| network.contains(&address))
}

/// What one client has: an address of IPv4, or at least a /64 of IPv6.
pub fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => {
            let host_part = u128::from(u64::MAX);
            Ipv6Addr::from_bits(address.to_bits() & !host_part).into()
        }
        address @ IpAddr::V4(_) => address,
    }
}

/// Walks from the nearest hop outwards and stops at the first address that is
/// no proxy of ours: everything beyond it can be made up.
fn behind_proxies(peer: IpAddr, headers: &HeaderMap, proxies: &[IpNet]) -> IpAddr {
    let lines: Vec<&[u8]> =
        headers.get_all("x-forwarded-for").iter().map(HeaderValue::as_bytes).collect();
    let mut hops = lines.iter().rev().flat_map(|line| line.rsplit(|byte| *byte == b','));
    let mut address = peer;
    while within(address, proxies) {
        let Some(hop) = hops.next().and_then(parsed) else { break };
        address = hop.to_canonical();
    }
    address
}

/// Each hop by itself: what a client put before the others may be no text.
fn parsed(hop: &[u8]) -> Option<IpAddr> {
    std::str::from_utf8(hop).ok()?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ipv6_counts_by_64_and_ipv4_by_address() {
        let check = |address: &str, expected: &str| {
            assert_eq!(network(address.parse().unwrap()).to_string(), expected);
        };
        check("192.0.2.7", "192.0.2.7");
        check("::ffff:192.0.2.7", "192.0.2.7");
        check("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::");
        check("2001:db8:1:3::1", "2001:db8:1:3::");
    }

    #[test]
    fn only_configured_proxies_are_believed() {
        let proxies: Vec<IpNet> = vec!["10.0.0.0/8".parse().unwrap()];
        let check = |peer: &str, forwarded: &str, expected: &str| {
            let mut headers = HeaderMap::new();
            for line in forwarded.split('\n') {
                let line = HeaderValue::from_bytes(line.as_bytes()).unwrap();
                headers.append("x-forwarded-for", line);
            }
            let found = behind_proxies(peer.parse().unwrap(), &headers, &proxies);
            assert_eq!(found.to_string(), expected, "{peer} {forwarded}");
        };
        check("203.0.113.9", "198.51.100.1", "203.0.113.9");
        check("10.0.0.1", "198.51.100.1", "198.51.100.1");
        check("10.0.0.1", "192.0.2.66, 198.51.100.1, 10.0.0.2", "198.51.100.1");
        check("10.0.0.1", "nonsense", "10.0.0.1");
        check("10.0.0.1", "nonsense, 198.51.100.1", "198.51.100.1");
        check("10.0.0.1", "::ffff:198.51.100.1", "198.51.100.1");
        check("10.0.0.1", "192.0.2.66\n198.51.100.1, 10.0.0.2\n10.0.0.3", "198.51.100.1");
        // What is no ASCII hides nothing but itself.
        check("10.0.0.1", "\u{e9}, 198.51.100.1", "198.51.100.1");
        check("10.0.0.1", "\u{e9}\n198.51.100.1", "198.51.100.1");
        check("10.0.0.1", "198.51.100.1, \u{e9}", "10.0.0.1");
    }
}
