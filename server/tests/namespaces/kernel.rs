//! What the kernel has: of one installation, and of everybody else.

use crate::machine::sh;
use cloud_local::{NetworkPart, Whose, network_parts};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Everything that networks could leave behind.
pub fn state() -> BTreeSet<String> {
    let asked = [
        "ip -o address",
        "ip -br link",
        "ip route show table all",
        "ip rule",
        "ip netns list",
        "nft list tables",
        "ls -1 /run/netns",
    ];
    let mut lines = BTreeSet::new();
    for command in asked {
        lines.extend(sh(command).lines().map(|line| format!("{command}: {line}")));
    }
    lines
}

/// What is different from before. Networks of other tests come and go meanwhile: of what bears
/// a name of ours, only what has one of these marks counts.
pub fn differences(before: &BTreeSet<String>, marks: &[String]) -> Vec<String> {
    let after = state();
    let is_ours = |line: &&String| marks.iter().any(|mark| line.contains(mark));
    let is_hosts = |line: &&String| {
        !["cn", "ou", "100.", "198.18", "castellan", "customer", "outside"]
            .iter()
            .any(|word| line.contains(word))
    };
    let mut found: Vec<String> = after.difference(before).filter(is_ours).cloned().collect();
    found.extend(before.difference(&after).filter(is_hosts).cloned());
    found
}

/// A network of an instance, and the namespaces of its servers.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Network {
    pub id: i64,
    /// The name of its namespace.
    pub name: String,
    pub servers: Vec<PathBuf>,
}

/// Every network of the installation, by its id.
pub fn networks(data: &Path) -> Vec<Network> {
    let is_there = |part: &NetworkPart| part.found.as_ref().is_some_and(|found| !found.is_stale);
    let parts: Vec<NetworkPart> = network_parts(data).unwrap();
    let parts = parts.into_iter().filter(is_there);
    let named = parts.filter_map(|part| match part.whose {
        Whose::Network(id) if part.name.starts_with("castellan-") => Some((id.0, part.name)),
        _ => None,
    });
    let named: BTreeSet<(i64, String)> = named.collect();
    // `castellan-<tag>-<slot>`, and of a server with one more number.
    let is_network = |name: &str| name.matches('-').count() == 2;
    let servers = |id: i64| {
        let own = named.iter().filter(move |(of, name)| *of == id && !is_network(name));
        own.map(|(_, name)| Path::new("/run/netns").join(name)).collect()
    };
    let networks = named.iter().filter(|(_, name)| is_network(name));
    networks
        .map(|(id, name)| Network { id: *id, name: name.clone(), servers: servers(*id) })
        .collect()
}

/// By which everything of the installation is told: its tag, and the control plane's address.
pub fn marks(data: &Path) -> Vec<String> {
    let parts = network_parts(data).unwrap();
    let ours =
        parts.into_iter().filter(|part| matches!(part.whose, Whose::Network(_) | Whose::Host));
    let mut marks = BTreeSet::new();
    for found in ours.filter_map(|part| part.found) {
        marks.insert(found.tag.to_string());
        if found.name.starts_with("100.") {
            marks.insert(found.name);
        }
    }
    marks.into_iter().collect()
}
