//! What one call may cost. Whoever writes to a topic decides what is in it, and a
//! thousand bytes of it may unpack to millions.

use std::sync::atomic::{AtomicUsize, Ordering};
use tokio::time::Instant;

/// Shared by all that one call reads.
pub(super) struct Budget {
    until: Instant,
    unpacked: AtomicUsize,
    most: usize,
}

impl Budget {
    /// So much time, and so many bytes that packed batches unpack to.
    pub fn new(until: Instant, most: usize) -> Self {
        Self { until, unpacked: AtomicUsize::new(0), most }
    }

    /// It was spent by one batch too many at the most.
    pub fn spend(&self, bytes: usize) {
        self.unpacked.fetch_add(bytes, Ordering::Relaxed);
    }

    pub fn is_spent(&self) -> bool {
        Instant::now() >= self.until || self.unpacked.load(Ordering::Relaxed) >= self.most
    }
}
