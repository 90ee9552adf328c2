//! Choosing where new servers listen.
//!
//! A choice is only proposed: the caller saves it before the first side
//! effect. Everything proposed could be bound a moment ago, and is not taken
//! by a server on record. Metrics are on a loopback address whatever the mode:
//! they are for this host alone.

use cloud::Addresses;
use ipnet::Ipv4Net;
use model::{Listener, Listeners, Published};
use std::io::ErrorKind;
use std::net::{IpAddr, Ipv4Addr, TcpListener, ToSocketAddrs as _};
use std::ops::RangeInclusive;
use uuid::Uuid;

/// How servers of this installation are told apart.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum AddressMode {
    /// One loopback address a server. Only this host reaches them.
    Loopback,
    /// One of the operator's addresses a server.
    Addresses {
        nets: Vec<Ipv4Net>,
        /// Whether servers have a listener without encryption or login.
        plaintext: bool,
    },
    /// One address for all, a block of ports a server.
    SharedAddress {
        /// The name or address that clients use.
        host: String,
        bind: IpAddr,
        ports: RangeInclusive<u16>,
        plaintext: bool,
    },
}

impl AddressMode {
    /// Whether servers have a listener without encryption or login. On loopback
    /// addresses they always do.
    pub fn has_plaintext(&self) -> bool {
        match self {
            Self::Loopback => true,
            Self::Addresses { plaintext, .. } | Self::SharedAddress { plaintext, .. } => *plaintext,
        }
    }
}

#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum AddressError {
    #[error(
        "only {found} of {wanted} servers find a free address in {range}; \
         remove clusters or end the programs that listen there on ports 9090 to 9094 or from 9404"
    )]
    AddressesExhausted { found: usize, wanted: usize, range: String },
    #[error(
        "none of the addresses in {range} belongs to this host; \
         add them to a network interface or correct the setting `addresses`"
    )]
    NotOurs { range: String },
    #[error(
        "only {found} of {wanted} servers find {PORTS_EACH} free ports in a row in {first}-{last}; \
         remove clusters or widen the range of ports"
    )]
    PortsExhausted { found: usize, wanted: usize, first: u16, last: u16 },
    #[error("{address} can't be listened on: {reason}")]
    NotAllowed { address: String, reason: String },
}

const PORTS_EACH: u16 = 5;
/// Of a server with an address of its own, in the order of `listeners`.
const OWN_PORTS: [u16; 5] = [9092, 9093, 9094, 9091, 9090];
/// The first of 127.64.0.0/10.
const LOOPBACK_FIRST: u32 = u32::from_be_bytes([127, 64, 0, 0]);
const LOOPBACK_COUNT: u32 = 1 << 22;
const LOOPBACK: &str = "127.64.0.0/10";
/// The first that is free. Exporters of all kinds listen on 9404, some on every
/// address of the host.
const METRICS_PORTS: RangeInclusive<u16> = 9404..=9423;

/// Chooses for `count` new servers. `taken` says whether a server on record
/// listens at that bind host and port.
pub fn propose(
    mode: &AddressMode,
    installation: Uuid,
    taken: &dyn Fn(&str, u16) -> bool,
    count: usize,
) -> Result<Vec<Addresses>, AddressError> {
    let plaintext = mode.has_plaintext();
    let found = match mode {
        AddressMode::Loopback => {
            whole_addresses(loopback(installation), LOOPBACK, plaintext, taken, count)
        }
        AddressMode::Addresses { nets, .. } => {
            let range: Vec<String> = nets.iter().map(ToString::to_string).collect();
            let all = nets.iter().flat_map(Ipv4Net::hosts);
            whole_addresses(all, &range.join(", "), plaintext, taken, count)
        }
        AddressMode::SharedAddress { host, bind, ports, .. } => {
            port_blocks(host, *bind, ports, plaintext, taken, count)
        }
    };
    let mut found = found?;
    add_metrics(&mut found, mode, installation, taken)?;
    Ok(found)
}

/// Where a server listens that has an address in a network of its own: nobody else can have
/// its ports, and a firewall says who reaches them. The alias is for the control plane, and is
/// known once the server is made.
pub(crate) fn private(
    address: Ipv4Addr,
    alias: Option<Ipv4Addr>,
    published: Option<Published>,
) -> Addresses {
    let text = address.to_string();
    let listener = |port| Listener { bind_host: text.clone(), advertised_host: text.clone(), port };
    let own = listeners(&text, &text, OWN_PORTS, true);
    let listeners = Listeners {
        metrics: Some(listener(*METRICS_PORTS.start())),
        reached_at: Some(alias.map_or_else(String::new, |alias| alias.to_string())),
        published,
        ..own
    };
    Addresses { private_ip: text, listeners }
}

/// A place at the host's own addresses, as one that leads into a network.
pub(crate) fn published(Listeners { ssl, sasl_scram, .. }: &Listeners) -> Published {
    Published {
        bind_host: sasl_scram.bind_host.clone(),
        advertised_host: sasl_scram.advertised_host.clone(),
        ssl: ssl.port,
        sasl_scram: sasl_scram.port,
    }
}

/// The same for who forwards them.
pub(crate) fn forwarded(published: &Published) -> [netns::Published; 2] {
    let at = published.bind_host.parse().ok().filter(|at: &Ipv4Addr| !at.is_unspecified());
    let [_, ssl, sasl_scram, ..] = OWN_PORTS;
    [(published.ssl, ssl), (published.sasl_scram, sasl_scram)].map(|(port, to)| netns::Published {
        at,
        port,
        to,
    })
}

/// A server with a loopback address has its metrics there; the others, whose
/// addresses clients reach, have a loopback address for nothing else.
fn add_metrics(
    chosen: &mut [Addresses],
    mode: &AddressMode,
    installation: Uuid,
    taken: &dyn Fn(&str, u16) -> bool,
) -> Result<(), AddressError> {
    let wanted = chosen.len();
    let mut others = loopback(installation);
    for (found, addresses) in chosen.iter_mut().enumerate() {
        let own = (*mode == AddressMode::Loopback).then(|| addresses.private_ip.parse());
        let free = match own {
            Some(Ok(own)) => metrics(own, taken).transpose(),
            _ => others.find_map(|address| metrics(address, taken).transpose()),
        };
        let range = LOOPBACK.to_owned();
        let exhausted = AddressError::AddressesExhausted { found, wanted, range };
        addresses.listeners.metrics = Some(free.ok_or(exhausted)??);
    }
    Ok(())
}

/// The first free port for metrics at an address.
fn metrics(
    address: Ipv4Addr,
    taken: &dyn Fn(&str, u16) -> bool,
) -> Result<Option<Listener>, AddressError> {
    for port in METRICS_PORTS {
        let host = address.to_string();
        let listener = Listener { bind_host: host.clone(), advertised_host: host, port };
        if try_one(&listener, taken)? == Trial::Free {
            return Ok(Some(listener));
        }
    }
    Ok(None)
}

/// Each installation starts elsewhere, so that two on one machine rarely meet.
fn loopback(installation: Uuid) -> impl Iterator<Item = Ipv4Addr> {
    let [.., a, b, c] = *installation.as_bytes();
    let offset = (u32::from_be_bytes([0, a, b, c]) % LOOPBACK_COUNT) & !0xff;
    (0..LOOPBACK_COUNT)
        .map(move |step| LOOPBACK_FIRST + (offset + step) % LOOPBACK_COUNT)
        .map(Ipv4Addr::from_bits)
        // Addresses that look like a network or a broadcast confuse people.
        .filter(|address| !matches!(address.octets()[3], 0 | 255))
}

fn whole_addresses(
    candidates: impl Iterator<Item = Ipv4Addr>,
    range: &str,
    plaintext: bool,
    taken: &dyn Fn(&str, u16) -> bool,
    count: usize,
) -> Result<Vec<Addresses>, AddressError> {
    let mut found = Vec::new();
    let mut is_ours = false;
    for address in candidates {
        if found.len() == count {
            break;
        }
        let text = address.to_string();
        let addresses = Addresses {
            listeners: listeners(&text, &text, OWN_PORTS, plaintext),
            private_ip: text,
        };
        let trial = try_all(&addresses.listeners, taken)?;
        is_ours |= trial != Trial::NotOurs;
        if trial == Trial::Free {
            found.push(addresses);
        }
    }
    match found.len() {
        complete if complete == count => Ok(found),
        0 if !is_ours => Err(AddressError::NotOurs { range: range.into() }),
        some => Err(AddressError::AddressesExhausted {
            found: some,
            wanted: count,
            range: range.into(),
        }),
    }
}

fn port_blocks(
    host: &str,
    bind: IpAddr,
    ports: &RangeInclusive<u16>,
    plaintext: bool,
    taken: &dyn Fn(&str, u16) -> bool,
    count: usize,
) -> Result<Vec<Addresses>, AddressError> {
    let bind_host = bind.to_string();
    let private_ip = if bind.is_unspecified() { resolve(host).unwrap_or(bind) } else { bind };
    let private_ip = private_ip.to_string();
    let mut found = Vec::new();
    let mut first = *ports.start();
    while found.len() < count {
        // A block that would run past the range ends the search.
        let Some(last) = first.checked_add(PORTS_EACH - 1).filter(|last| last <= ports.end())
        else {
            return Err(AddressError::PortsExhausted {
                found: found.len(),
                wanted: count,
                first: *ports.start(),
                last: *ports.end(),
            });
        };
        let block = [first, first + 1, first + 2, first + 3, last];
        let listeners = listeners(&bind_host, host, block, plaintext);
        match try_all(&listeners, taken)? {
            Trial::Free => found.push(Addresses { private_ip: private_ip.clone(), listeners }),
            Trial::Taken => {}
            Trial::NotOurs => return Err(AddressError::NotOurs { range: bind_host }),
        }
        first = first.saturating_add(PORTS_EACH);
    }
    Ok(found)
}

/// The address of a host that may be given by its name.
fn resolve(host: &str) -> Option<IpAddr> {
    if let Ok(address) = host.parse() {
        return Some(address);
    }
    let found: Vec<IpAddr> = (host, 0).to_socket_addrs().ok()?.map(|found| found.ip()).collect();
    found.iter().find(|address| address.is_ipv4()).or(found.first()).copied()
}

/// Ports in the order plaintext, ssl, sasl_scram, internal, controller. Without
/// plaintext its port is left free, so that blocks of ports always begin alike.
fn listeners(
    bind_host: &str,
    advertised_host: &str,
    ports: [u16; 5],
    has_plaintext: bool,
) -> Listeners {
    let [plaintext, ssl, sasl_scram, internal, controller] = ports.map(|port| Listener {
        bind_host: bind_host.into(),
        advertised_host: advertised_host.into(),
        port,
    });
    let plaintext = has_plaintext.then_some(plaintext);
    Listeners {
        plaintext,
        ssl,
        sasl_scram,
        internal,
        controller,
        metrics: None,
        reached_at: None,
        published: None,
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Trial {
    Free,
    Taken,
    /// The host does not have that address.
    NotOurs,
}

fn try_all(
    listeners: &Listeners,
    taken: &dyn Fn(&str, u16) -> bool,
) -> Result<Trial, AddressError> {
    for listener in listeners.all() {
        let trial = try_one(listener, taken)?;
        if trial != Trial::Free {
            return Ok(trial);
        }
    }
    Ok(Trial::Free)
}

fn try_one(
    Listener { bind_host, port, .. }: &Listener,
    taken: &dyn Fn(&str, u16) -> bool,
) -> Result<Trial, AddressError> {
    if taken(bind_host, *port) {
        return Ok(Trial::Taken);
    }
    match TcpListener::bind((bind_host.as_str(), *port)) {
        Ok(_) => Ok(Trial::Free),
        Err(error) if error.kind() == ErrorKind::AddrInUse => Ok(Trial::Taken),
        Err(error) if error.kind() == ErrorKind::AddrNotAvailable => Ok(Trial::NotOurs),
        Err(error) => {
            let address = format!("{bind_host}:{port}");
            Err(AddressError::NotAllowed { address, reason: error.to_string() })
        }
    }
}
