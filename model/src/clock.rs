//! The one source of the wall clock.

use jiff::{SignedDuration, Timestamp};
use std::sync::Mutex;

/// Tells the time. Everything that stores or compares times takes one.
pub trait Clock: Send + Sync {
    fn now(&self) -> Timestamp;
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
}

/// A clock that stands still until a test moves it.
#[derive(Debug)]
pub struct ManualClock(Mutex<Timestamp>);

impl ManualClock {
    pub fn at(now: Timestamp) -> Self {
        Self(Mutex::new(now))
    }

    pub fn advance(&self, by: SignedDuration) {
        let mut now = self.0.lock().expect("no holder of this lock panics");
        *now += by;
    }
}

impl Clock for ManualClock {
    fn now(&self) -> Timestamp {
        *self.0.lock().expect("no holder of this lock panics")
    }
}
