//! Whom a request is charged to.

use super::bucket::{Buckets, Empty, Standing, Ticks};
use super::settings::RateLimits;
use crate::address::network;
use crate::state::Listener;
use dashmap::DashMap;
use model::{AccountId, Secret};
use sha2::{Digest, Sha256};
use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};
use tokio_util::sync::CancellationToken;

const TIDY_EVERY: Duration = Duration::from_mins(1);
/// A key that was not used for so long is looked up like a new one.
const KNOWN_FOR: Duration = Duration::from_hours(1);

/// Which key on which listener, told apart without keeping the key.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Mark([u8; 32]);

impl Mark {
    pub fn from_key(listener: Listener, key: &Secret) -> Self {
        let text = Sha256::new().chain_update(listener.as_str()).chain_update([0]);
        Self(text.chain_update(key.expose()).finalize().into())
    }
}

/// A key that a look-up has found.
struct Known {
    account: AccountId,
    used: AtomicU64,
}

/// The buckets; clones share them. Both APIs get the same, so that an account
/// has one allowance.
#[derive(Clone)]
pub struct RateLimit(Arc<Inner>);

struct Inner {
    keys: Option<Buckets<Mark>>,
    accounts: Option<Buckets<AccountId>>,
    addresses: Option<Buckets<IpAddr>>,
    /// Holds keys that exist and no others, so guesses don't make it grow.
    known: DashMap<Mark, Known>,
    ticks: Ticks,
}

impl RateLimit {
    pub fn new(limits: RateLimits) -> Self {
        let start = Instant::now();
        Self::on(limits, move || start.elapsed())
    }

    /// With a clock of one's own: the time since some moment.
    pub fn on(limits: RateLimits, clock: impl Fn() -> Duration + Send + Sync + 'static) -> Self {
        let ticks = Ticks(Arc::new(clock));
        Self(Arc::new(Inner {
            keys: Buckets::new(limits.key, &ticks),
            accounts: Buckets::new(limits.account, &ticks),
            addresses: Buckets::new(limits.address, &ticks),
            known: DashMap::new(),
            ticks,
        }))
    }

    /// Whether nobody is limited, so that nothing need be counted.
    pub(super) fn is_off(&self) -> bool {
        let inner = &*self.0;
        inner.keys.is_none() && inner.accounts.is_none() && inner.addresses.is_none()
    }

    /// Forgets what no longer matters, every minute until `stop`.
    pub async fn keep_tidy(self, stop: CancellationToken) {
        let mut timer = tokio::time::interval(TIDY_EVERY);
        while stop.run_until_cancelled(timer.tick()).await.is_some() {
            self.tidy();
        }
    }

    fn tidy(&self) {
        let inner = &*self.0;
        inner.keys.as_ref().inspect(|buckets| buckets.tidy());
        inner.accounts.as_ref().inspect(|buckets| buckets.tidy());
        inner.addresses.as_ref().inspect(|buckets| buckets.tidy());
        let oldest = inner.now().saturating_sub(nanos(KNOWN_FOR));
        inner.known.retain(|_, known| known.used.load(Ordering::Relaxed) >= oldest);
    }

    /// Charges a key that was found lately, and its account; none if it was not.
    pub(super) fn charge_known(&self, mark: Mark) -> Option<Result<Option<Standing>, Empty>> {
        let account = {
            let known = self.0.known.get(&mark)?;
            known.used.store(self.0.now(), Ordering::Relaxed);
            known.account
        };
        Some(self.charge_holder(mark, account))
    }

    pub(super) fn charge_address(&self, address: IpAddr) -> Result<Option<Standing>, Empty> {
        let buckets = self.0.addresses.as_ref();
        buckets.map(|buckets| buckets.charge(&network(address))).transpose()
    }

    /// Notes a key that a look-up has found, and charges its holder.
    pub(super) fn found(&self, mark: Mark, account: AccountId) -> Result<Option<Standing>, Empty> {
        self.0.known.insert(mark, Known { account, used: self.0.now().into() });
        self.charge_holder(mark, account)
    }

    pub(super) fn forget(&self, mark: Mark) {
        self.0.known.remove(&mark);
    }

    /// The standing is of the bucket that will be empty first.
    fn charge_holder(&self, mark: Mark, account: AccountId) -> Result<Option<Standing>, Empty> {
        let inner = &*self.0;
        let key = inner.keys.as_ref().map(|buckets| buckets.charge(&mark)).transpose()?;
        let all = inner.accounts.as_ref().map(|buckets| buckets.charge(&account)).transpose()?;
        Ok([key, all].into_iter().flatten().min_by_key(|standing| standing.remaining))
    }
}

impl Inner {
    fn now(&self) -> u64 {
        nanos((self.ticks.0)())
    }
}

fn nanos(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_no_longer_matters_is_forgotten() {
        let time = Arc::new(AtomicU64::new(0));
        let seconds = time.clone();
        let clock = move || Duration::from_secs(seconds.load(Ordering::Relaxed));
        let limit = RateLimit::on(RateLimits::default(), clock);
        let account = AccountId("00000000-0000-0000-0000-000000000001".parse().unwrap());
        let mark = Mark::from_key(Listener::Customer, &Secret::new("k3y"));
        limit.charge_address("192.0.2.7".parse().unwrap()).unwrap();
        limit.found(mark, account).unwrap();
        let held = || {
            let inner = &*limit.0;
            let addresses = inner.addresses.as_ref().unwrap().len();
            (addresses, inner.keys.as_ref().unwrap().len(), inner.known.len())
        };
        limit.tidy();
        assert_eq!(held(), (1, 1, 1));
        time.store(60, Ordering::Relaxed);
        limit.tidy();
        assert_eq!(held(), (0, 0, 1), "full buckets go, the key is still known");
        time.store(KNOWN_FOR.as_secs() + 1, Ordering::Relaxed);
        limit.tidy();
        assert_eq!(held(), (0, 0, 0));
    }

    #[test]
    fn a_key_is_known_on_the_listener_that_found_it() {
        let key = Secret::new("k3y");
        let marks = [Listener::Customer, Listener::Instance].map(|on| Mark::from_key(on, &key));
        assert_ne!(marks[0], marks[1]);
    }
}
