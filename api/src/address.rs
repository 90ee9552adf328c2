//! Where a request really comes from.

use crate::state::Options;
use axum::extract::ConnectInfo;
use axum::http::{Extensions, HeaderMap, HeaderValue};
use ipnet::IpNet;
use std::net::{IpAddr, SocketAddr};

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
