//! Buckets of one kind, one for each key.

use super::settings::Rate;
use governor::clock::Clock;
use governor::middleware::StateInformationMiddleware;
use governor::nanos::Nanos;
use governor::state::keyed::DashMapStateStore;
use governor::{Quota, RateLimiter};
use std::fmt;
use std::hash::Hash;
use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Duration;

/// Buckets fill by whole nanoseconds.
const FASTEST: u32 = 1_000_000;

/// The time since some moment, which never goes back.
#[derive(Clone)]
pub struct Ticks(pub Arc<dyn Fn() -> Duration + Send + Sync>);

impl fmt::Debug for Ticks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Ticks")
    }
}

impl Clock for Ticks {
    type Instant = Nanos;

    fn now(&self) -> Nanos {
        (self.0)().into()
    }
}

/// How full a bucket is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Standing {
    pub limit: u32,
    pub remaining: u32,
    /// Seconds until it is full again.
    pub reset: u64,
}

/// The bucket is empty.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Empty {
    pub standing: Standing,
    /// Seconds until a request is let through.
    pub retry_after: u64,
}

pub struct Buckets<K: Hash + Eq + Clone> {
    limiter: RateLimiter<K, DashMapStateStore<K>, Ticks, StateInformationMiddleware>,
    ticks: Ticks,
}

impl<K: Hash + Eq + Clone> Buckets<K> {
    /// None where the limit is off.
    pub fn new(rate: Rate, ticks: &Ticks) -> Option<Self> {
        let per_second = NonZeroU32::new(rate.per_second.min(FASTEST))?;
        let burst = NonZeroU32::new(rate.burst).unwrap_or(per_second);
        let quota = Quota::per_second(per_second).allow_burst(burst);
        let limiter = RateLimiter::new(quota, DashMapStateStore::default(), ticks.clone());
        Some(Self { limiter, ticks: ticks.clone() })
    }

    /// Takes one token.
    pub fn charge(&self, key: &K) -> Result<Standing, Empty> {
        match self.limiter.check_key(key) {
            Ok(state) => Ok(standing(state.quota(), state.remaining_burst_capacity())),
            Err(until) => Err(Empty {
                standing: standing(until.quota(), 0),
                retry_after: whole_seconds(until.wait_time_from(self.ticks.now())).max(1),
            }),
        }
    }

    /// Forgets the buckets that are full again.
    pub fn tidy(&self) {
        self.limiter.retain_recent();
        self.limiter.shrink_to_fit();
    }

    #[cfg(test)]
    pub fn len(&self) -> usize {
        self.limiter.len()
    }
}

fn standing(quota: Quota, remaining: u32) -> Standing {
    let limit = quota.burst_size().get();
    let missing = limit.saturating_sub(remaining);
    Standing { limit, remaining, reset: whole_seconds(quota.replenish_interval() * missing) }
}

fn whole_seconds(time: Duration) -> u64 {
    time.as_secs() + u64::from(time.subsec_nanos() > 0)
}
