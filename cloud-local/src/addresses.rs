//! Choosing where new servers listen.
//!
//! A choice is only proposed: the caller saves it before the first side
//! effect. Everything proposed could be bound a moment ago, and is not taken
//! by a server on record.

use ipnet::Ipv4Net;
use model::{Listener, Listeners};
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
    Addresses(Vec<Ipv4Net>),
    /// One address for all, a block of ports a server.
    SharedAddress {
        /// The name or address that clients use.
        host: String,
        bind: IpAddr,
        ports: RangeInclusive<u16>,
    },
}

/// Where one server listens.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Placement {
    /// An address, never a name.
    pub private_ip: String,
    pub listeners: Listeners,
}

#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum AddressError {
    #[error(
        "only {found} of {wanted} servers find a free address in {range}; \
         remove clusters or end the programs that listen there on ports 9090 to 9094"
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
/// The first of 127.64.0.0/10.
const LOOPBACK_FIRST: u32 = u32::from_be_bytes([127, 64, 0, 0]);
const LOOPBACK_COUNT: u32 = 1 << 22;

/// Chooses for `count` new servers. `taken` says whether a server on record
/// listens at that bind host and port.
pub fn propose(
    mode: &AddressMode,
    installation: Uuid,
    taken: &dyn Fn(&str, u16) -> bool,
    count: usize,
) -> Result<Vec<Placement>, AddressError> {
    match mode {
        AddressMode::Loopback => {
            whole_addresses(loopback(installation), "127.64.0.0/10", taken, count)
        }
        AddressMode::Addresses(nets) => {
            let range: Vec<String> = nets.iter().map(ToString::to_string).collect();
            whole_addresses(nets.iter().flat_map(Ipv4Net::hosts), &range.join(", "), taken, count)
        }
        AddressMode::SharedAddress { host, bind, ports } => {
            port_blocks(host, *bind, ports, taken, count)
        }
    }
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
    taken: &dyn Fn(&str, u16) -> bool,
    count: usize,
) -> Result<Vec<Placement>, AddressError> {
    let mut found = Vec::new();
    let mut is_ours = false;
    for address in candidates {
        if found.len() == count {
            break;
        }
        let text = address.to_string();
        let placement = Placement {
            listeners: listeners(&text, &text, [9092, 9093, 9094, 9091, 9090]),
            private_ip: text,
        };
        let trial = try_all(&placement.listeners, taken)?;
        is_ours |= trial != Trial::NotOurs;
        if trial == Trial::Free {
            found.push(placement);
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
    taken: &dyn Fn(&str, u16) -> bool,
    count: usize,
) -> Result<Vec<Placement>, AddressError> {
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
        let listeners = listeners(&bind_host, host, block);
        match try_all(&listeners, taken)? {
            Trial::Free => found.push(Placement { private_ip: private_ip.clone(), listeners }),
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

/// Ports in the order plaintext, ssl, sasl_scram, internal, controller.
fn listeners(bind_host: &str, advertised_host: &str, ports: [u16; 5]) -> Listeners {
    let [plaintext, ssl, sasl_scram, internal, controller] = ports.map(|port| Listener {
        bind_host: bind_host.into(),
        advertised_host: advertised_host.into(),
        port,
    });
    Listeners { plaintext, ssl, sasl_scram, internal, controller }
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
    for Listener { bind_host, port, .. } in listeners.all() {
        if taken(bind_host, *port) {
            return Ok(Trial::Taken);
        }
        match TcpListener::bind((bind_host.as_str(), *port)) {
            Ok(_) => {}
            Err(error) if error.kind() == ErrorKind::AddrInUse => return Ok(Trial::Taken),
            Err(error) if error.kind() == ErrorKind::AddrNotAvailable => {
                return Ok(Trial::NotOurs);
            }
            Err(error) => {
                let address = format!("{bind_host}:{port}");
                return Err(AddressError::NotAllowed { address, reason: error.to_string() });
            }
        }
    }
    Ok(Trial::Free)
}
