//! The time that one attempt may take. A caller that drops an attempt does not get to know what was
//! done by then; an attempt that ends by itself returns it.

use crate::outcome::Trouble;
use egress::Fault;
use model::Timestamp;
use std::time::Duration;
use tokio::time::{Instant, timeout};

/// For one call, from the look-up of the name to the end of the answer.
const CALL: Duration = Duration::from_secs(10);

pub struct Budget {
    /// When it began, by two clocks.
    now: Timestamp,
    began: Instant,
    patience: Duration,
}

impl Budget {
    pub fn new(now: Timestamp, patience: Duration) -> Self {
        Self { now, began: Instant::now(), patience }
    }

    /// The time by now: signatures hold it, and their services take no old ones.
    pub fn now(&self) -> Timestamp {
        self.now.checked_add(self.began.elapsed()).unwrap_or(self.now)
    }

    /// What comes of one call, if it comes within its own bound and that of the attempt.
    pub async fn bound<T>(
        &self,
        place: &str,
        call: impl Future<Output = Result<T, Fault>>,
    ) -> Result<T, Trouble> {
        let rest = self.patience.saturating_sub(self.began.elapsed());
        if rest.is_zero() {
            return Err(self.spent(place));
        }
        match timeout(CALL.min(rest), call).await {
            Ok(outcome) => outcome.map_err(|fault| Trouble::from_fault(place, &fault)),
            Err(_) if rest < CALL => Err(self.spent(place)),
            Err(_) => Err(Trouble::from_fault(place, &Fault::Unresponsive(CALL.as_secs()))),
        }
    }

    fn spent(&self, place: &str) -> Trouble {
        let seconds = self.patience.as_secs();
        Trouble::retry(None, format!("{place} did not take all of it within {seconds} s"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::future::{pending, ready};

    #[tokio::test]
    async fn calls_end_with_the_attempt() {
        let now = "2026-11-19T10:00:00Z".parse().unwrap();
        let budget = Budget::new(now, Duration::from_secs(1));
        let said = |outcome: Result<(), Trouble>| outcome.map_err(|trouble| trouble.to_string());
        let hanging = said(budget.bound("x.test", pending()).await);
        assert_eq!(hanging, Err("x.test did not take all of it within 1 s".into()));
        assert!(budget.now().duration_since(now).as_secs() >= 1);
        // None is begun any more.
        assert_eq!(said(budget.bound("x.test", ready(Ok(()))).await), hanging);
        let budget = Budget::new(now, Duration::from_mins(1));
        assert_eq!(said(budget.bound("x.test", ready(Ok(()))).await), Ok(()));
    }
}
