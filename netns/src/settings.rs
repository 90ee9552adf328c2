//! Settings of the kernel, in namespaces of ours and for links of ours alone.

use crate::Network;

type Setting = (String, &'static str);

fn no_ipv6() -> [Setting; 2] {
    ["all", "default"].map(|which| (format!("ipv6/conf/{which}/disable_ipv6"), "1"))
}

/// Of a network's namespace: it forwards, and what goes over its bridge meets members' rules
/// alone.
pub(crate) fn network() -> Vec<Setting> {
    let bridge = ["iptables", "ip6tables", "arptables"];
    let bridge = bridge.map(|which| (format!("bridge/bridge-nf-call-{which}"), "0"));
    let mut all = vec![("ipv4/ip_forward".to_owned(), "1")];
    all.extend(no_ipv6());
    all.extend(bridge);
    all
}

pub(crate) fn member() -> Vec<Setting> {
    no_ipv6().into()
}

/// Of the host's end of an uplink, and of nothing else of the host.
pub(crate) fn link(name: &str, network: &Network) -> Vec<Setting> {
    // Answers to a client on the host's loopback come in over this link.
    let mut published = network.members.values().flat_map(|member| &member.published);
    let local = published.any(|it| it.at.is_none_or(|at| at.is_loopback()));
    vec![
        (format!("ipv4/conf/{name}/forwarding"), "1"),
        (format!("ipv4/conf/{name}/send_redirects"), "0"),
        (format!("ipv4/conf/{name}/route_localnet"), if local { "1" } else { "0" }),
        (format!("ipv6/conf/{name}/disable_ipv6"), "1"),
    ]
}
