//! When the next record is due.

use std::time::{Duration, Instant};

/// Records come evenly, whatever the cluster does: who is late hurries. Only
/// after [`Pace::forgive`] what was missed is not made up for.
pub struct Pace {
    every: Duration,
    due: Instant,
}

impl Pace {
    pub fn new(per_second: f64) -> Self {
        Self { every: Duration::from_secs_f64(1.0 / per_second), due: Instant::now() }
    }

    /// Sleeps until the next record is due.
    pub fn wait(&mut self) {
        if let Some(early) = self.due.checked_duration_since(Instant::now()) {
            std::thread::sleep(early);
        }
        self.due += self.every;
    }

    /// Goes on from now.
    pub fn forgive(&mut self) {
        self.due = self.due.max(Instant::now());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_is_late_hurries_unless_forgiven() {
        let mut pace = Pace::new(100.0);
        let began = pace.due;
        pace.due -= Duration::from_secs(1);
        for _ in 0..100 {
            pace.wait();
        }
        assert_eq!(pace.due, began, "a hundred were overdue");
        pace.due -= Duration::from_secs(1);
        pace.forgive();
        assert!(pace.due >= began);
    }

    #[test]
    fn nothing_is_early() {
        let mut pace = Pace::new(1000.0);
        let began = Instant::now();
        for _ in 0..11 {
            pace.wait();
        }
        assert!(began.elapsed() >= Duration::from_millis(9));
    }
}
