//! Making a network what its description says, and the host's part of all of them.

use crate::kernel::{self, Gate, Kernel, Place};
use crate::lists::Lists;
use crate::rules::{BRIDGE, UPLINK};
use crate::seen::Seen;
use crate::{Control, Error, Network, Slot, Tag, names, ranges, rules, settings};
use ipnet::Ipv4Net;
use std::collections::HashMap;
use std::fmt;
use std::net::Ipv4Addr;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

/// One installation's networks on this host. Calls for different networks don't wait for
/// each other.
pub struct Networks {
    pub(crate) tag: Tag,
    /// On each link, so that a person sees whose it is.
    note: String,
    gate: Option<Arc<Gate>>,
    pub(crate) lists: Lists,
    busy: Mutex<HashMap<Option<Slot>, Arc<Mutex<()>>>>,
}

impl Networks {
    /// The note is in one line.
    pub fn new(tag: Tag, note: impl Into<String>) -> Self {
        let note = note.into().replace(['\n', '"', '\\'], " ");
        Self { tag, note, gate: None, lists: <_>::default(), busy: <_>::default() }
    }

    /// The same, stopped at a change that the gate says no to, as if it had died there.
    #[must_use]
    pub fn with_gate(self, gate: impl Fn(&str) -> bool + Send + Sync + 'static) -> Self {
        Self { gate: Some(Arc::new(gate)), ..self }
    }

    pub fn tag(&self) -> &Tag {
        &self.tag
    }

    /// The file of a member's namespace, for processes that shall be in it.
    pub fn namespace(&self, network: &Network, member: Ipv4Addr) -> Option<PathBuf> {
        let place = network.place(member)?;
        Some(names::path(&self.tag.member(network.slot, place)))
    }

    pub(crate) fn kernel(&self) -> Kernel {
        Kernel::new(self.gate.clone())
    }

    /// Held while something of one network, or of the host's part, is changed.
    pub(crate) fn lock(&self, slot: Option<Slot>) -> Arc<Mutex<()>> {
        let mut busy = self.busy.lock().expect("no holder of this lock panics");
        Arc::clone(busy.entry(slot).or_default())
    }

    /// The host's rules for all networks, and the control plane's address. To be called before
    /// a network is made, and after one is removed. Answers what was changed.
    pub fn make_host(&self, control: &Control, networks: &[Network]) -> Result<Vec<String>, Error> {
        for network in networks {
            network.check()?;
        }
        let lock = self.lock(None);
        let _lock = lock.lock().expect("no holder of this lock panics");
        let kernel = self.kernel();
        let table = rules::host(&self.tag, control, networks);
        self.lists.ensure(&kernel, &Place::Host, &[table])?;
        let seen = kernel::look(&Place::Host)?;
        let address = Ipv4Net::from(control.address);
        let label = self.tag.address();
        let labels = seen.link("lo").map(|lo| lo.labels.as_slice()).unwrap_or_default();
        let mut commands: Vec<String> = labels
            .iter()
            .filter(|(found, net)| *found == label && *net != address)
            .map(|(_, net)| format!("address del {net} dev lo"))
            .collect();
        if !seen.links.iter().any(|link| link.addresses.contains(&address)) {
            commands.push(format!("address add {address} dev lo label {label}"));
        }
        kernel.ip(&Place::Host, &commands)?;
        Ok(kernel.into_done())
    }

    /// One network with its members; those that it does not describe any more are removed.
    /// Answers what was changed.
    pub fn make(&self, network: &Network, control: &Control) -> Result<Vec<String>, Error> {
        network.check()?;
        let lock = self.lock(Some(network.slot));
        let _lock = lock.lock().expect("no holder of this lock panics");
        let kernel = self.kernel();
        let place = Place::In(self.tag.network(network.slot));
        self.make_inside(&kernel, &place, network)?;
        let inside = kernel::look(&place)?;
        for (number, address, member) in network.places() {
            self.make_member(&kernel, network, &inside, (number, address), &member.rules)?;
        }
        let guards = network.places().map(|(number, address, _)| {
            rules::guard(
                number,
                &crate::member::link(number),
                address,
                &crate::member::card(address),
            )
        });
        let mut tables: Vec<rules::Table> = guards.collect();
        tables.push(rules::network(network, control));
        self.lists.ensure(&kernel, &place, &tables)?;
        // Only now may anything pass.
        let inside = kernel::look(&place)?;
        let down = network.places().map(|(number, ..)| crate::member::link(number));
        let down = down.filter(|name| inside.link(name).is_some_and(|link| !link.is_up));
        let up: Vec<String> = down.map(|name| format!("link set {name} up")).collect();
        kernel.ip(&place, &up)?;
        self.make_uplink(&kernel, &place, network)?;
        // Last, since one that can't be removed must not keep the others from being made.
        self.remove_others(&kernel, network)?;
        Ok(kernel.into_done())
    }

    fn make_inside(&self, kernel: &Kernel, place: &Place, network: &Network) -> Result<(), Error> {
        kernel.make_namespace(&self.tag.network(network.slot))?;
        kernel.set(place, &settings::network())?;
        let seen = kernel::look(place)?;
        let mut commands = Vec::new();
        if seen.link(BRIDGE).is_none() {
            commands.push(format!("link add {BRIDGE} type bridge"));
        }
        let gateway = Ipv4Net::new_assert(network.gateway(), network.subnet.prefix_len());
        address(&mut commands, &seen, BRIDGE, gateway);
        up(&mut commands, &seen, "lo");
        up(&mut commands, &seen, BRIDGE);
        kernel.ip(place, &commands)
    }

    /// Both ends of the link to the host. They are of one pair, or neither is kept.
    fn make_uplink(&self, kernel: &Kernel, place: &Place, network: &Network) -> Result<(), Error> {
        let link = self.tag.link(network.slot);
        let (own, inner) = ranges::uplink(network.slot);
        let block = ranges::block(network.slot, network.subnet);
        let host = kernel::look(&Place::Host)?;
        if let Some(other) = host.route(block).filter(|route| route.link.as_ref() != Some(&link)) {
            let link = other.link.clone().unwrap_or_else(|| "nowhere".into());
            return Err(Error::RangeTaken { block, link });
        }
        let inside = kernel::look(place)?;
        let (inside, host) = if are_pair(&host, &link, &inside, UPLINK) {
            (inside, host)
        } else {
            unmake(kernel, &Place::Host, &host, &link)?;
            unmake(kernel, place, &kernel::look(place)?, UPLINK)?;
            let (note, namespace) = (&self.note, self.tag.network(network.slot));
            let made = format!(
                "link add {link} alias \"{note}\" type veth peer name {UPLINK} netns {namespace}"
            );
            kernel.ip(&Place::Host, &[made])?;
            (kernel::look(place)?, kernel::look(&Place::Host)?)
        };
        let mut commands = Vec::new();
        address(&mut commands, &inside, UPLINK, inner);
        up(&mut commands, &inside, UPLINK);
        route(&mut commands, &inside, Ipv4Net::default(), own.addr(), UPLINK);
        kernel.ip(place, &commands)?;
        kernel.set(&Place::Host, &settings::link(&link, network))?;
        let mut commands = Vec::new();
        address(&mut commands, &host, &link, own);
        up(&mut commands, &host, &link);
        route(&mut commands, &host, block, inner.addr(), &link);
        kernel.ip(&Place::Host, &commands)
    }
}

impl fmt::Debug for Networks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Networks").field("tag", &self.tag).finish_non_exhaustive()
    }
}

/// Whether the two are the ends of one link.
pub(crate) fn are_pair(here: &Seen, name: &str, there: &Seen, other: &str) -> bool {
    let ends = here.link(name).zip(there.link(other));
    ends.is_some_and(|(one, other)| {
        one.other == Some(other.index) && other.other == Some(one.index)
    })
}

/// Removes a link and with it its other end.
pub(crate) fn unmake(kernel: &Kernel, place: &Place, seen: &Seen, name: &str) -> Result<(), Error> {
    if seen.link(name).is_none() {
        return Ok(());
    }
    match kernel.ip(place, &[format!("link del {name}")]) {
        // It was about to go, with a namespace that somebody has removed.
        Err(Error::Refused { .. }) if kernel::look(place)?.link(name).is_none() => Ok(()),
        other => other,
    }
}

pub(crate) fn address(commands: &mut Vec<String>, seen: &Seen, link: &str, address: Ipv4Net) {
    if !seen.link(link).is_some_and(|link| link.addresses.contains(&address)) {
        commands.push(format!("address add {address} dev {link}"));
    }
}

pub(crate) fn up(commands: &mut Vec<String>, seen: &Seen, link: &str) {
    if !seen.link(link).is_some_and(|link| link.is_up) {
        commands.push(format!("link set {link} up"));
    }
}

pub(crate) fn route(
    commands: &mut Vec<String>,
    seen: &Seen,
    to: Ipv4Net,
    via: Ipv4Addr,
    link: &str,
) {
    let is_there = seen
        .route(to)
        .is_some_and(|route| route.via == Some(via) && route.link.as_deref() == Some(link));
    if !is_there {
        let to = if to.prefix_len() == 0 { "default".to_owned() } else { to.to_string() };
        commands.push(format!("route replace {to} via {via} dev {link}"));
    }
}
