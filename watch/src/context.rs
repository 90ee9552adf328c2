//! What samples and alarms work with.

use crate::metrics::Metrics;
use model::{Catalogue, Clock, Entropy, SignedDuration, Timestamp};
use reach::Reach;
use std::sync::Arc;
use store::{MetricsHistory, Store};

/// The parts that everything here shares; cheap to clone.
#[derive(Clone)]
pub struct Context {
    store: Store,
    reach: Reach,
    pub(crate) catalogue: Arc<Catalogue>,
    clock: Arc<dyn Clock>,
    entropy: Arc<dyn Entropy>,
    metrics: Arc<Metrics>,
}

impl Context {
    pub fn new(
        store: Store,
        reach: Reach,
        catalogue: Arc<Catalogue>,
        clock: Arc<dyn Clock>,
        entropy: Arc<dyn Entropy>,
    ) -> Self {
        let metrics = Arc::new(Metrics::new(None));
        Self { store, reach, catalogue, clock, entropy, metrics }
    }

    /// With a history of metrics; without one they are in memory alone. To be
    /// called before the first sample comes.
    #[must_use]
    pub fn with_history(self, history: MetricsHistory) -> Self {
        Self { metrics: Arc::new(Metrics::new(Some(history))), ..self }
    }

    /// As exact as the store keeps it, so that a time is the same before and after it was
    /// written.
    pub fn now(&self) -> Timestamp {
        let now = self.clock.now();
        Timestamp::from_microsecond(now.as_microsecond()).unwrap_or(now)
    }

    /// See [`Clock::elapsed`].
    pub(crate) fn elapsed(&self) -> SignedDuration {
        self.clock.elapsed()
    }

    pub(crate) fn store(&self) -> &Store {
        &self.store
    }

    pub(crate) fn reach(&self) -> &Reach {
        &self.reach
    }

    pub(crate) fn entropy(&self) -> &dyn Entropy {
        &*self.entropy
    }

    pub(crate) fn metrics(&self) -> &Metrics {
        &self.metrics
    }
}
