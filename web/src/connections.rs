//! How many connections a listener holds at a moment: in all, and by who opened them.
//!
//! Nobody is shut out by another: where all places are taken, the opener who has most of
//! them loses its oldest connection to the newcomer. An opener is an address, an IPv6 /64,
//! or the certificate of an agent, since the agents of one host share an address. Who has
//! shown no certificate yet takes no place of those who have.

mod counted;

pub(crate) use counted::Counted;

use crate::address::{network, within};
use ipnet::IpNet;
use std::collections::{BTreeMap, HashMap};
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard};
use tokio_util::sync::CancellationToken;

/// What the operator sets.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ConnectionLimits {
    pub total: usize,
    /// For each address, IPv6 /64 or certificate of an agent.
    pub per_address: usize,
}

impl Default for ConnectionLimits {
    fn default() -> Self {
        Self { total: 2000, per_address: 100 }
    }
}

/// The places of one or more listeners; cheap to clone.
#[derive(Clone)]
pub struct Connections {
    anonymous: Pool,
    certified: Pool,
    /// Addresses that stand for many clients.
    proxies: Arc<[IpNet]>,
}

impl Connections {
    /// For the two APIs. Proxies stand for many clients, and only count in all.
    pub fn of_apis(limits: ConnectionLimits, proxies: &[IpNet]) -> Self {
        let ConnectionLimits { total, per_address } = limits;
        Self {
            anonymous: Pool::new(total, Some(per_address)),
            certified: Pool::new(total, Some(per_address)),
            proxies: proxies.into(),
        }
    }

    /// For agents. Any process of an agent's host has its address, so there the address
    /// alone never is a reason to refuse a handshake.
    pub fn of_agents(limits: ConnectionLimits) -> Self {
        let ConnectionLimits { total, per_address } = limits;
        Self {
            anonymous: Pool::new((total / 4).max(1), None),
            certified: Pool::new(total, Some(per_address)),
            proxies: Arc::default(),
        }
    }

    /// A place for a connection from this address; none if the address has enough.
    pub(crate) fn enter(&self, address: IpAddr) -> Option<Place> {
        let is_many = within(address.to_canonical(), &self.proxies);
        self.anonymous.enter(Opener::Network(network(address)), is_many)
    }

    /// A place for the connection of an agent whose certificate TLS has verified.
    pub(crate) fn enter_certified(&self, certificate: &[u8]) -> Option<Place> {
        self.certified.enter(Opener::Certificate(certificate.into()), false)
    }
}

impl Default for Connections {
    fn default() -> Self {
        Self::of_apis(ConnectionLimits::default(), &[])
    }
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
enum Opener {
    Network(IpAddr),
    Certificate(Arc<[u8]>),
}

#[derive(Clone)]
struct Pool {
    total: usize,
    per_opener: Option<usize>,
    held: Arc<Mutex<Held>>,
}

#[derive(Default)]
struct Held {
    total: usize,
    /// Numbers them in the order in which they came.
    next: u64,
    by: HashMap<Opener, BTreeMap<u64, CancellationToken>>,
}

impl Pool {
    fn new(total: usize, per_opener: Option<usize>) -> Self {
        Self { total, per_opener, held: Arc::default() }
    }

    fn enter(&self, opener: Opener, is_many: bool) -> Option<Place> {
        let mut held = self.held();
        let has = held.by.get(&opener).map_or(0, BTreeMap::len);
        if !is_many && self.per_opener.is_some_and(|most| has >= most) {
            return None;
        }
        if held.total >= self.total {
            held.close_oldest_of_busiest();
        }
        held.next += 1;
        held.total += 1;
        let (number, closed) = (held.next, CancellationToken::new());
        held.by.entry(opener.clone()).or_default().insert(number, closed.clone());
        Some(Place { pool: self.clone(), opener, number, closed })
    }

    fn held(&self) -> MutexGuard<'_, Held> {
        self.held.lock().expect("no holder of this lock panics")
    }
}

impl Held {
    fn close_oldest_of_busiest(&mut self) {
        let busiest = self.by.iter().max_by_key(|(_, all)| all.len());
        let Some(opener) = busiest.map(|(opener, _)| opener.clone()) else { return };
        let oldest = self.by.get(&opener).and_then(|all| all.keys().next().copied());
        if let Some(closed) = oldest.and_then(|number| self.remove(&opener, number)) {
            closed.cancel();
        }
    }

    fn remove(&mut self, opener: &Opener, number: u64) -> Option<CancellationToken> {
        let all = self.by.get_mut(opener)?;
        let removed = all.remove(&number)?;
        if all.is_empty() {
            self.by.remove(opener);
        }
        self.total -= 1;
        Some(removed)
    }
}

/// Held for as long as the connection.
pub(crate) struct Place {
    pool: Pool,
    opener: Opener,
    number: u64,
    /// Cancelled when the connection has to go.
    pub(crate) closed: CancellationToken,
}

impl Drop for Place {
    fn drop(&mut self) {
        self.pool.held().remove(&self.opener, self.number);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limits(total: usize, per_address: usize) -> ConnectionLimits {
        ConnectionLimits { total, per_address }
    }

    fn address(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    #[test]
    fn an_address_has_so_many_and_a_place_that_is_left_is_free() {
        let all = Connections::of_apis(limits(100, 2), &["198.51.100.0/24".parse().unwrap()]);
        let enter = |text: &str| all.enter(address(text));
        let mut first = vec![enter("192.0.2.1").unwrap(), enter("192.0.2.1").unwrap()];
        assert!(enter("192.0.2.1").is_none());
        assert!(enter("::ffff:192.0.2.1").is_none(), "the same address");
        assert!(enter("192.0.2.2").is_some());
        let sixes = (enter("2001:db8::1").unwrap(), enter("2001:db8::2:0:0:1").unwrap());
        assert!(enter("2001:db8::3").is_none(), "the same /64");
        assert!(enter("2001:db8:0:1::3").is_some());
        let proxied: Vec<_> = (0..9).filter_map(|_| enter("198.51.100.7")).collect();
        assert_eq!(proxied.len(), 9, "a proxy stands for many");
        first.pop();
        assert!(enter("192.0.2.1").is_some());
        drop((first, proxied, sixes));
        assert!(all.anonymous.held().by.is_empty() && all.anonymous.held().total == 0);
    }

    #[test]
    fn where_all_are_taken_the_busiest_loses_its_oldest() {
        let all = Connections::of_apis(limits(4, 3), &[]);
        let busy: Vec<_> = (0..3).map(|_| all.enter(address("192.0.2.1")).unwrap()).collect();
        let other = all.enter(address("192.0.2.2")).unwrap();
        let third = all.enter(address("192.0.2.3")).unwrap();
        let closed: Vec<bool> = busy.iter().map(|place| place.closed.is_cancelled()).collect();
        assert_eq!(closed, [true, false, false]);
        assert!(!other.closed.is_cancelled() && !third.closed.is_cancelled());
        assert_eq!(all.anonymous.held().total, 4);
        drop(busy);
        assert_eq!(all.anonymous.held().total, 2, "what was closed is not counted twice");
    }

    /// Whoever is on the host can hold handshakes open, from the address of its agents.
    #[test]
    fn agents_of_one_host_are_not_shut_out() {
        let all = Connections::of_agents(limits(40, 5));
        let silent: Vec<_> = (0..60).filter_map(|_| all.enter(address("127.0.0.1"))).collect();
        assert_eq!(silent.len(), 60);
        let held = silent.iter().filter(|place| !place.closed.is_cancelled()).count();
        assert_eq!(held, 10, "a quarter of all");
        let agents: Vec<_> = (0..8_u8)
            .flat_map(|agent| (0..5).map(move |_| agent))
            .filter_map(|agent| all.enter_certified(&[agent]))
            .collect();
        assert_eq!(agents.len(), 40);
        assert!(all.enter_certified(&[0]).is_none(), "one agent can't take what is others'");
        assert!(agents.iter().all(|place| !place.closed.is_cancelled()));
        assert!(all.enter(address("127.0.0.1")).is_some(), "the next handshake comes in");
    }
}
