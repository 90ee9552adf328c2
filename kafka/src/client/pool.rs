//! Connections that are kept between calls, and who did not answer lately.
//!
//! A handshake costs both sides more than most calls do. A connection is used by
//! one call at a time; one whose broker has closed it, or has said anything
//! unasked, is not used again. Everything is kept by instance and node id: two clusters
//! may have the same addresses. What belongs to one identity is never lent to another.

use super::{Broker, BrokerKey, Cluster, Connection, Endpoint, Error, tls};
use model::InstanceId;
use rustls::ClientConfig;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;
use tokio::time::Instant;

/// Brokers close what is idle for ten minutes; we do long before.
const IDLE: Duration = Duration::from_mins(1);
/// Of one broker; more at once are closed after their call.
const MOST_IDLE: usize = 4;
/// So long is a broker that did not answer asked after the others.
const SHUNNED: Duration = Duration::from_secs(5);

#[derive(Default)]
pub(super) struct Pool(Mutex<Inside>);

#[derive(Default)]
struct Inside {
    /// By instance, who we are and whom we trust.
    clusters: HashMap<Who, Kept>,
    silent: HashMap<BrokerKey, Instant>,
    reaped: Option<Instant>,
}

#[derive(Clone, PartialEq, Eq, Hash)]
pub(super) struct Who {
    instance: InstanceId,
    trust: String,
    certificate: String,
}

struct Kept {
    tls: Arc<ClientConfig>,
    idle: HashMap<BrokerKey, Vec<(Connection, Instant)>>,
    used: Instant,
}

impl Who {
    fn we_are(cluster: &Cluster) -> Self {
        let certificate = cluster.identity.certificate_chain_pem.clone();
        Self { instance: cluster.instance, trust: cluster.trust_pem.clone(), certificate }
    }
}

impl Pool {
    fn inside(&self) -> MutexGuard<'_, Inside> {
        self.0.lock().expect("no holder of this lock panics")
    }

    /// What connections to the cluster are kept under, and how they are opened.
    pub fn enter(&self, cluster: &Cluster) -> Result<(Who, Arc<ClientConfig>), Error> {
        let who = Who::we_are(cluster);
        let mut inside = self.inside();
        let now = Instant::now();
        if let Some(kept) = inside.clusters.get_mut(&who) {
            kept.used = now;
            return Ok((who, Arc::clone(&kept.tls)));
        }
        let tls = tls::client_config(&cluster.trust_pem, Some(&cluster.identity))?;
        let kept = Kept { tls: Arc::clone(&tls), idle: HashMap::new(), used: now };
        inside.clusters.insert(who.clone(), kept);
        Ok((who, tls))
    }

    /// A connection to the broker that is still good, if there is one. One to where it
    /// listened before is given up.
    pub fn take(&self, who: &Who, key: BrokerKey, endpoint: &Endpoint) -> Option<Connection> {
        let mut inside = self.inside();
        let idle = inside.clusters.get_mut(who)?.idle.get_mut(&key)?;
        while let Some((mut connection, since)) = idle.pop() {
            let is_there = connection.endpoint() == endpoint;
            if is_there && since.elapsed() < IDLE && connection.is_quiet() {
                return Some(connection);
            }
        }
        None
    }

    /// Keeps a connection for the next call.
    pub fn put(&self, who: &Who, key: BrokerKey, connection: Connection) {
        let now = Instant::now();
        let mut inside = self.inside();
        inside.silent.remove(&key);
        if let Some(kept) = inside.clusters.get_mut(who) {
            let idle = kept.idle.entry(key).or_default();
            if idle.len() < MOST_IDLE && connection.is_usable() {
                idle.push((connection, now));
            }
        }
        inside.reap(now);
    }

    /// It did not answer.
    pub fn shun(&self, key: BrokerKey) {
        self.inside().silent.insert(key, Instant::now());
    }

    /// Those that did not answer lately last, the others as they are.
    pub fn in_order<'a>(&self, instance: InstanceId, brokers: &'a [Broker]) -> Vec<&'a Broker> {
        let inside = self.inside();
        let silent = |broker: &&Broker| {
            inside.silent.get(&broker.key(instance)).is_some_and(|at| at.elapsed() < SHUNNED)
        };
        let mut order: Vec<&Broker> = brokers.iter().collect();
        order.sort_by_key(silent);
        order
    }
}

impl Inside {
    /// Closes what nobody has used for a while.
    fn reap(&mut self, now: Instant) {
        if self.reaped.is_some_and(|at| now - at < IDLE) {
            return;
        }
        self.reaped = Some(now);
        self.silent.retain(|_, at| now - *at < SHUNNED);
        self.clusters.retain(|_, kept| now - kept.used < IDLE);
        for kept in self.clusters.values_mut() {
            kept.idle.retain(|_, idle| {
                idle.retain(|(_, since)| now - *since < IDLE);
                !idle.is_empty()
            });
        }
    }
}
