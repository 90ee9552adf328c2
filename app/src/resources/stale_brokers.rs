//! Servers that may not know of a change yet.

use kafka::client::{Broker, BrokerKey, Cluster};
use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard};
use std::time::{Duration, Instant};

/// Being asked last costs nothing, and a server may take minutes until it is back and has
/// read what happened meanwhile.
const STALE: Duration = Duration::from_mins(10);

/// Brokers that did not show a change that was made. Such a server was being restarted, and when
/// it listens again it still reads what it missed: asked first, it would deny what the
/// caller was just told. Known to the control plane that made the change, and to no other.
#[derive(Default)]
pub(crate) struct StaleBrokers(Mutex<HashMap<BrokerKey, Instant>>);

impl StaleBrokers {
    fn inside(&self) -> MutexGuard<'_, HashMap<BrokerKey, Instant>> {
        self.0.lock().expect("no holder of this lock panics")
    }

    pub fn note(&self, broker: BrokerKey, now: Instant) {
        let mut inside = self.inside();
        inside.retain(|_, at| now - *at < STALE);
        inside.insert(broker, now);
    }

    /// It has shown the change since.
    pub fn forget(&self, broker: BrokerKey) {
        self.inside().remove(&broker);
    }

    /// Whether one of its brokers may still show what was before a change.
    pub fn has_any_of(&self, cluster: &Cluster, now: Instant) -> bool {
        let inside = self.inside();
        let noted = |broker: &Broker| inside.get(&broker.key(cluster.instance));
        cluster.brokers.iter().filter_map(noted).any(|at| now - *at < STALE)
    }

    /// Brokers that know of every change come first, as they are, then those that had
    /// most time to hear of it.
    pub fn last(&self, cluster: &mut Cluster, now: Instant) {
        let (inside, instance) = (self.inside(), cluster.instance);
        let noted = |broker: &Broker| {
            inside.get(&broker.key(instance)).filter(|at| now - **at < STALE).copied()
        };
        cluster.brokers.sort_by_key(noted);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kafka::Endpoint;
    use kafka::client::Identity;
    use model::{InstanceId, Secret};

    const HOSTS: [&str; 3] = ["a", "b", "c"];

    fn cluster(instance: i64) -> Cluster {
        let brokers = (1..).zip(HOSTS.map(|host| Endpoint::new(host, 9094)));
        Cluster {
            instance: InstanceId(instance),
            brokers: brokers.map(|(id, endpoint)| Broker::new(id, endpoint)).collect(),
            trust_pem: String::new(),
            identity: Identity { certificate_chain_pem: String::new(), key_pem: Secret::new("") },
        }
    }

    #[test]
    fn whoever_missed_a_change_is_asked_last_for_a_while() {
        let (stale, begin) = (StaleBrokers::default(), Instant::now());
        let at = |seconds| begin + Duration::from_secs(seconds);
        let key = |host| {
            let cluster = cluster(1);
            cluster
                .brokers
                .iter()
                .find(|it| it.endpoint.host == host)
                .unwrap()
                .key(cluster.instance)
        };
        let note = |host, seconds| stale.note(key(host), at(seconds));
        let check_of = |instance, seconds, expected: [&str; 3]| {
            let mut cluster = cluster(instance);
            stale.last(&mut cluster, at(seconds));
            let order: Vec<_> = cluster.brokers.into_iter().map(|it| it.endpoint.host).collect();
            assert_eq!(order, expected);
        };
        let check = |seconds, expected| check_of(1, seconds, expected);
        check(0, ["a", "b", "c"]);
        note("a", 0);
        check(0, ["b", "c", "a"]);
        check_of(2, 0, ["a", "b", "c"]);
        note("b", 1);
        check(1, ["c", "a", "b"]);
        note("a", 2);
        check(2, ["c", "b", "a"]);
        check(601, ["b", "c", "a"]);
        check(602, ["a", "b", "c"]);
        note("a", 602);
        check(602, ["b", "c", "a"]);
        stale.forget(key("a"));
        check(602, ["a", "b", "c"]);
    }
}
