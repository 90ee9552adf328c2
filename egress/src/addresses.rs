//! Which addresses are public. Pure: it looks nothing up.
//!
//! A range that is not in these lists counts as private, so a range that was reserved
//! after this was written is refused, not called.

use ipnet::{Ipv4Net, Ipv6Net};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::sync::LazyLock;

/// By IANA's registry of special addresses, with multicast.
const NOT_PUBLIC_V4: [&str; 15] = [
    "0.0.0.0/8",       // this network
    "10.0.0.0/8",      // private
    "100.64.0.0/10",   // shared by a carrier's customers
    "127.0.0.0/8",     // this machine
    "169.254.0.0/16",  // this link, where clouds keep their credentials
    "172.16.0.0/12",   // private
    "192.0.0.0/24",    // protocols
    "192.0.2.0/24",    // documentation
    "192.88.99.0/24",  // relays of 6to4, given up
    "192.168.0.0/16",  // private
    "198.18.0.0/15",   // benchmarks
    "198.51.100.0/24", // documentation
    "203.0.113.0/24",  // documentation
    "224.0.0.0/4",     // multicast
    "240.0.0.0/4",     // reserved, with the broadcast address
];

/// The part that is given out to everybody.
const GLOBAL_V6: &str = "2000::/3";
/// What of that part is not everybody's.
const NOT_PUBLIC_V6: [&str; 3] = [
    "2001::/23",     // protocols: Teredo, benchmarks, hashes
    "2001:db8::/32", // documentation
    "3fff::/20",     // documentation
];

static V4: LazyLock<Vec<Ipv4Net>> = LazyLock::new(|| NOT_PUBLIC_V4.map(v4).to_vec());
static V6: LazyLock<Vec<Ipv6Net>> = LazyLock::new(|| NOT_PUBLIC_V6.map(v6).to_vec());
static GLOBAL: LazyLock<Ipv6Net> = LazyLock::new(|| v6(GLOBAL_V6));
static MAPPED: LazyLock<Ipv6Net> = LazyLock::new(|| v6("::ffff:0:0/96"));
static NAT64: LazyLock<Ipv6Net> = LazyLock::new(|| v6("64:ff9b::/96"));
static SIX_TO_FOUR: LazyLock<Ipv6Net> = LazyLock::new(|| v6("2002::/16"));

fn v4(range: &str) -> Ipv4Net {
    range.parse().expect("these are ranges")
}

fn v6(range: &str) -> Ipv6Net {
    range.parse().expect("these are ranges")
}

/// True for addresses that can be called from anywhere on the internet.
pub fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_public_v4(address),
        IpAddr::V6(address) => is_public_v6(address),
    }
}

fn is_public_v4(address: Ipv4Addr) -> bool {
    !V4.iter().any(|range| range.contains(&address))
}

fn is_public_v6(address: Ipv6Addr) -> bool {
    match embedded(address) {
        Some(within) => is_public_v4(within),
        None => GLOBAL.contains(&address) && !V6.iter().any(|range| range.contains(&address)),
    }
}

/// The address of the old kind that is called through one of the new kind.
fn embedded(address: Ipv6Addr) -> Option<Ipv4Addr> {
    let octets = address.octets();
    let within = if MAPPED.contains(&address) || NAT64.contains(&address) {
        octets.last_chunk::<4>()
    } else if SIX_TO_FOUR.contains(&address) {
        octets[2..].first_chunk::<4>()
    } else {
        None
    };
    within.copied().map(Ipv4Addr::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_public() {
        let check = |address: &str, public: bool| {
            assert_eq!(is_public(address.parse().unwrap()), public, "{address}");
        };
        for public in [
            "1.1.1.1",
            "9.255.255.255",
            "11.0.0.0",
            "93.184.216.34",
            "100.63.255.255",
            "100.128.0.0",
            "126.255.255.255",
            "128.0.0.0",
            "169.253.255.255",
            "172.15.255.255",
            "172.32.0.0",
            "192.0.1.0",
            "192.167.255.255",
            "198.17.255.255",
            "198.20.0.0",
            "223.255.255.255",
            "2001:200::1",
            "2606:4700::1111",
            "2a00:1450:4001::1",
            "::ffff:1.1.1.1",
            "64:ff9b::1.1.1.1",
            "2002:101:101::1",
        ] {
            check(public, true);
        }
        for private in [
            "0.0.0.0",
            "0.1.2.3",
            "10.0.0.1",
            "10.255.255.255",
            "100.64.0.0",
            "100.127.255.255",
            "127.0.0.1",
            "127.255.255.254",
            "169.254.169.254",
            "172.16.0.1",
            "172.31.255.255",
            "192.0.0.1",
            "192.0.2.1",
            "192.88.99.1",
            "192.168.1.1",
            "198.18.0.1",
            "198.19.255.255",
            "198.51.100.1",
            "203.0.113.1",
            "224.0.0.1",
            "239.255.255.255",
            "240.0.0.1",
            "255.255.255.255",
            "::",
            "::1",
            "::7f00:1",
            "::ffff:127.0.0.1",
            "::ffff:10.0.0.1",
            "::ffff:169.254.169.254",
            "64:ff9b::7f00:1",
            "64:ff9b::10.0.0.1",
            "64:ff9b:1::1.1.1.1",
            "100::1",
            "2001::1",
            "2001:2::1",
            "2001:db8::1",
            "2002:7f00:1::1",
            "2002:a00:1::1",
            "2002:c0a8:101::1",
            "3fff::1",
            "4000::1",
            "5f00::1",
            "fc00::1",
            "fd12:3456:789a::1",
            "fe80::1",
            "fec0::1",
            "ff02::1",
        ] {
            check(private, false);
        }
    }
}
