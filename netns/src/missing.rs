//! Whether this host can have networks of ours, tried on it, in one sentence if not.

use crate::kernel::{Kernel, Place, namespaces};
use crate::rules::{self, Table};
use crate::{Control, Error, Member, Network, Rule, Slot, Tag, settings};
use host::ProcessId;
use ipnet::Ipv4Net;
use std::net::Ipv4Addr;
use std::sync::atomic::{AtomicU32, Ordering};

/// What the kernel and the programs say to a user who may not.
const REFUSALS: [&str; 2] = ["Operation not permitted", "Permission denied"];
/// Of the namespace that is tried; the pid of who tries follows, and a number.
const TRY: &str = "castellan-try-";
static TRIES: AtomicU32 = AtomicU32::new(0);

/// What is missing; none if nothing is. Tries each kind of thing in a namespace that is
/// removed again.
pub fn missing() -> Option<String> {
    let kernel = Kernel::default();
    let count = TRIES.fetch_add(1, Ordering::Relaxed);
    let own = format!("{TRY}{}-{count}", std::process::id());
    clear_old(&kernel);
    let tried = try_all(&kernel, &own);
    // What can't be removed was not made, or is removed by nobody else either.
    let _ = kernel.remove_namespace(&own);
    tried.err().map(|error| match error {
        Error::Refused { said, .. } if REFUSALS.iter().any(|it| said.contains(it)) => {
            "networks of their own take root, or CAP_NET_ADMIN and CAP_SYS_ADMIN".to_owned()
        }
        Error::Refused { what, said } => {
            format!("this host can't have networks of their own: {what} was refused ({said})")
        }
        other => format!("this host can't have networks of their own: {other}"),
    })
}

/// One who died while he tried has left his behind.
fn clear_old(kernel: &Kernel) {
    for name in namespaces().unwrap_or_default() {
        let pid = name.strip_prefix(TRY).and_then(|own| own.split('-').next()?.parse().ok());
        if pid.is_some_and(|pid| ProcessId::from_pid(pid).is_none()) {
            let _ = kernel.remove_namespace(&name);
        }
    }
}

fn try_all(kernel: &Kernel, own: &str) -> Result<(), Error> {
    kernel.make_namespace(own)?;
    let place = Place::In(own.to_owned());
    kernel.set(&place, &settings::network())?;
    let links = ["link add br0 type bridge", "link add uplink type veth peer name s2"];
    kernel.ip(&place, &links.map(String::from))?;
    let (network, control, tag) = example();
    let anyone = Rule::new(Ipv4Net::default(), 9094);
    let address = network.gateway();
    let guard = rules::guard(2, "s2", address, &crate::member::card(address));
    let apart = |table: Table, name: &str| Table { name: name.into(), ..table };
    let tables = [
        rules::network(&network, &control),
        rules::firewall(&[anyone]),
        guard,
        // In the namespace as well: it has to be understood, and not to be in force.
        apart(rules::host(&tag, &control, &[network]), "host"),
    ];
    let text: String = tables.iter().map(Table::text).collect();
    kernel.nft(&place, "a table of rules", &text)
}

fn example() -> (Network, Control, Tag) {
    let address = Ipv4Addr::new(10, 0, 0, 2);
    let published = crate::Published { at: None, port: 20000, to: 9094 };
    let member = Member { rules: vec![], published: vec![published] };
    let network = Network {
        slot: Slot::new(1).expect("it is small"),
        subnet: Ipv4Net::new_assert(Ipv4Addr::new(10, 0, 0, 0), 24),
        members: [(address, member)].into(),
    };
    let control =
        Control { address: Ipv4Addr::new(100, 64, 0, 1), ports: vec![7000], uids: vec![0] };
    (network, control, Tag::from_seed(b"try"))
}
