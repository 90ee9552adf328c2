//! What the kernel has in one place, read from what `ip -j` says.

use crate::Error;
use ipnet::Ipv4Net;
use serde::Deserialize;
use std::net::Ipv4Addr;

#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Seen {
    pub(crate) links: Vec<Link>,
    pub(crate) routes: Vec<Route>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Link {
    pub(crate) name: String,
    pub(crate) index: u32,
    /// The index of the other end, in the namespace where that is.
    pub(crate) other: Option<u32>,
    pub(crate) bridge: Option<String>,
    pub(crate) is_up: bool,
    pub(crate) addresses: Vec<Ipv4Net>,
    /// The addresses that have a label of their own.
    pub(crate) labels: Vec<(String, Ipv4Net)>,
    /// A text for people.
    pub(crate) note: Option<String>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Route {
    pub(crate) to: Ipv4Net,
    pub(crate) via: Option<Ipv4Addr>,
    pub(crate) link: Option<String>,
}

#[derive(Deserialize)]
struct RawLink {
    ifname: Option<String>,
    #[serde(default)]
    ifindex: u32,
    link_index: Option<u32>,
    master: Option<String>,
    #[serde(default)]
    flags: Vec<String>,
    ifalias: Option<String>,
    #[serde(default)]
    addr_info: Vec<RawAddress>,
}

#[derive(Deserialize)]
struct RawAddress {
    #[serde(default)]
    family: String,
    local: Option<String>,
    #[serde(default)]
    prefixlen: u8,
    label: Option<String>,
}

#[derive(Deserialize)]
struct RawRoute {
    #[serde(default)]
    dst: String,
    gateway: Option<String>,
    dev: Option<String>,
}

impl Seen {
    /// Two lists, one after the other: links with their addresses, and routes.
    pub(crate) fn read(text: &[u8]) -> Result<Self, Error> {
        let answer = |said: String| Error::Answer { program: "ip", said };
        let wrong = |error: serde_json::Error| answer(error.to_string());
        let mut lists = serde_json::Deserializer::from_slice(text).into_iter();
        let mut next = || lists.next().transpose();
        let links = next().map_err(wrong)?.ok_or_else(|| answer("it said nothing".into()))?;
        let links: Vec<RawLink> = serde_json::from_value(links).map_err(wrong)?;
        // Without any route older releases say nothing.
        let routes = next().map_err(wrong)?.unwrap_or_else(|| serde_json::json!([]));
        let routes: Vec<RawRoute> = serde_json::from_value(routes).map_err(wrong)?;
        Ok(Self {
            links: links.into_iter().filter_map(RawLink::read).collect(),
            routes: routes.iter().filter_map(RawRoute::read).collect(),
        })
    }

    pub(crate) fn link(&self, name: &str) -> Option<&Link> {
        self.links.iter().find(|link| link.name == name)
    }

    pub(crate) fn route(&self, to: Ipv4Net) -> Option<&Route> {
        self.routes.iter().find(|route| route.to == to)
    }
}

impl RawLink {
    fn read(self) -> Option<Link> {
        let own = self.addr_info.iter().filter(|address| address.family == "inet");
        let own = own.filter_map(|raw| {
            let net = Ipv4Net::new(raw.local.as_ref()?.parse().ok()?, raw.prefixlen).ok()?;
            Some((raw.label.clone().unwrap_or_default(), net))
        });
        let labelled: Vec<(String, Ipv4Net)> = own.collect();
        let name = self.ifname?;
        Some(Link {
            index: self.ifindex,
            other: self.link_index,
            bridge: self.master,
            is_up: self.flags.iter().any(|flag| flag == "UP"),
            addresses: labelled.iter().map(|(_, net)| *net).collect(),
            labels: labelled.into_iter().filter(|(label, _)| *label != name).collect(),
            note: self.ifalias,
            name,
        })
    }
}

impl RawRoute {
    fn read(&self) -> Option<Route> {
        let to = match self.dst.as_str() {
            "default" => Ipv4Net::default(),
            net if net.contains('/') => net.parse().ok()?,
            address => Ipv4Net::new(address.parse().ok()?, 32).ok()?,
        };
        let via = self.gateway.as_ref().and_then(|gateway| gateway.parse().ok());
        Some(Route { to, via, link: self.dev.clone() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SAID: &str = r#"[{"ifindex":1,"ifname":"lo","flags":["LOOPBACK","UP","LOWER_UP"],
        "addr_info":[{"family":"inet","local":"127.0.0.1","prefixlen":8,"label":"lo"},
        {"family":"inet","local":"100.64.9.1","prefixlen":32,"label":"lo:cn0a3f2c"},
        {"family":"inet6","local":"::1","prefixlen":128}]},{},
        {"ifindex":3,"link_index":6,"ifname":"s5","flags":["BROADCAST"],"master":"br0",
        "link_netnsid":0,"ifalias":"castellan of /data","addr_info":[]}]
        [{"dst":"default","gateway":"100.64.12.0","dev":"uplink","flags":[]},
        {"type":"blackhole","dst":"10.8.0.0/16","flags":[]},
        {"dst":"10.9.0.7","dev":"s5","scope":"link","flags":[]}]"#;

    #[test]
    fn links_addresses_and_routes_are_read() {
        let seen = Seen::read(SAID.as_bytes()).unwrap();
        let lo = seen.link("lo").unwrap();
        assert_eq!(lo.addresses.len(), 2);
        assert_eq!(lo.labels, [("lo:cn0a3f2c".into(), "100.64.9.1/32".parse().unwrap())]);
        assert!(lo.is_up && lo.other.is_none());
        let link = seen.link("s5").unwrap();
        assert_eq!((link.index, link.other, link.is_up), (3, Some(6), false));
        assert_eq!(link.bridge.as_deref(), Some("br0"));
        assert_eq!(link.note.as_deref(), Some("castellan of /data"));
        assert!(seen.link("s6").is_none());
        let default = seen.route(Ipv4Net::default()).unwrap();
        assert_eq!(default.via, Some("100.64.12.0".parse().unwrap()));
        let hole = seen.route("10.8.0.0/16".parse().unwrap()).unwrap();
        assert_eq!((hole.via, &hole.link), (None, &None));
        assert!(seen.route("10.9.0.7/32".parse().unwrap()).is_some());
    }

    #[test]
    fn what_is_no_answer_is_an_error() {
        assert!(Seen::read(b"").is_err());
        assert!(Seen::read(b"no").is_err());
        assert!(Seen::read(b"[]").unwrap().links.is_empty());
    }
}
