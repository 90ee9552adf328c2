//! Where a request really comes from.

use crate::state::Options;
use axum::extract::ConnectInfo;
use axum::http::{Extensions, HeaderMap};
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
    let lines = headers.get_all("x-forwarded-for").iter();
    let text: Vec<&str> = lines.filter_map(|line| line.to_str().ok()).collect();
    let joined = text.join(",");
    let mut hops = joined.rsplit(',').map(|hop| hop.trim().parse::<IpAddr>());
    let mut address = peer;
    while within(address, proxies) {
        match hops.next() {
            Some(Ok(hop)) => address = hop.to_canonical(),
            _ => break,
        }
    }
    address
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_configured_proxies_are_believed() {
        let proxies: Vec<IpNet> = vec!["10.0.0.0/8".parse().unwrap()];
        let check = |peer: &str, forwarded: &str, expected: &str| {
            let mut headers = HeaderMap::new();
            headers.insert("x-forwarded-for", forwarded.parse().unwrap());
            let found = behind_proxies(peer.parse().unwrap(), &headers, &proxies);
            assert_eq!(found.to_string(), expected, "{peer} {forwarded}");
        };
        check("203.0.113.9", "198.51.100.1", "203.0.113.9");
        check("10.0.0.1", "198.51.100.1", "198.51.100.1");
        check("10.0.0.1", "192.0.2.66, 198.51.100.1, 10.0.0.2", "198.51.100.1");
        check("10.0.0.1", "nonsense", "10.0.0.1");
        check("10.0.0.1", "nonsense, 198.51.100.1", "198.51.100.1");
        check("10.0.0.1", "::ffff:198.51.100.1", "198.51.100.1");
    }
}
