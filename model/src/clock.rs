//! The one source of time: the wall clock, and one that never goes back.

use jiff::{SignedDuration, Timestamp};
use std::sync::{LazyLock, Mutex};
use std::time::Instant;

/// What [`SystemClock::elapsed`] counts from.
static START: LazyLock<Instant> = LazyLock::new(Instant::now);

/// Tells the time. Everything that stores or compares times takes one.
pub trait Clock: Send + Sync {
    fn now(&self) -> Timestamp;

    /// The time since some moment before. It never goes back, also when the wall clock is set
    /// back, so what a process waits for or remembers for a while is counted by it. It means
    /// nothing to another process.
    fn elapsed(&self) -> SignedDuration;
}

/// The machine's clock.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    #[expect(clippy::disallowed_methods, reason = "this is the wall clock's one home")]
    fn now(&self) -> Timestamp {
        let now = Timestamp::now();
        #[cfg(debug_assertions)]
        let now = crate::stepped::from(now);
        now
    }

    fn elapsed(&self) -> SignedDuration {
        SignedDuration::try_from(START.elapsed()).unwrap_or(SignedDuration::MAX)
    }
}

/// A clock that stands still until a test moves it.
#[derive(Debug)]
pub struct ManualClock(Mutex<(Timestamp, SignedDuration)>);

impl ManualClock {
    pub fn at(now: Timestamp) -> Self {
        Self(Mutex::new((now, SignedDuration::ZERO)))
    }

    /// By less than nothing, the wall clock is set back and no time passes.
    pub fn advance(&self, by: SignedDuration) {
        let (now, elapsed) = &mut *self.0.lock().expect("no holder of this lock panics");
        *now += by;
        *elapsed += by.max(SignedDuration::ZERO);
    }
}

impl Clock for ManualClock {
    fn now(&self) -> Timestamp {
        self.0.lock().expect("no holder of this lock panics").0
    }

    fn elapsed(&self) -> SignedDuration {
        self.0.lock().expect("no holder of this lock panics").1
    }
}
