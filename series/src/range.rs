//! What part of history is asked for, within bounds.

use crate::tier::Tier;
use crate::{STEP, align, steps};

/// From one time to another, in steps.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Range {
    pub from: i64,
    pub to: i64,
    pub step: i64,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum RangeError {
    #[error("`from` must be before `to`")]
    Backwards,
    #[error("`to` lies in the future")]
    Future,
    #[error("Nothing is kept from before {} days ago", Tier::TenMinutes.kept() / 86_400)]
    TooOld,
    #[error("`step` must be a multiple of {} from {} to 86400 seconds", STEP, STEP)]
    Step,
    #[error("That are more than {} points; ask for a larger `step`", Range::MOST)]
    TooMany,
}

/// Steps that people count in.
const STEPS: [i64; 12] = [10, 30, 60, 120, 300, 600, 1800, 3600, 7200, 14_400, 43_200, 86_400];
const HOUR: i64 = 3600;
/// Clocks differ.
const AHEAD: i64 = 300;

impl Range {
    /// Points of one series in one answer.
    pub const MOST: i64 = 10_000;
    /// The step that is chosen where none is given makes no more.
    pub const CHOSEN: i64 = 1000;

    /// The last hour up to `now`, unless it is said otherwise.
    pub fn new(
        from: Option<i64>,
        to: Option<i64>,
        step: Option<i64>,
        now: i64,
    ) -> Result<Self, RangeError> {
        let to = to.unwrap_or(now);
        let from = from.unwrap_or(to.saturating_sub(HOUR));
        if from >= to {
            return Err(RangeError::Backwards);
        }
        if to > now + AHEAD {
            return Err(RangeError::Future);
        }
        if from < Tier::TenMinutes.kept_since(now) {
            return Err(RangeError::TooOld);
        }
        let step = match step {
            Some(step) if !(STEP..=86_400).contains(&step) || step % STEP != 0 => {
                return Err(RangeError::Step);
            }
            Some(step) => step,
            None => chosen(from, to, now),
        };
        let range = Self { from: align(from, step), to, step };
        if range.points() > Self::MOST {
            return Err(RangeError::TooMany);
        }
        Ok(range)
    }

    /// How many points each series has.
    pub fn points(&self) -> i64 {
        steps(self.to - self.from, self.step)
    }

    pub fn tier(&self, now: i64) -> Tier {
        Tier::for_points(self.step, now - self.from)
    }
}

fn chosen(from: i64, to: i64, now: i64) -> i64 {
    let least = steps(to - from, Range::CHOSEN - 1);
    let kept = Tier::for_points(STEP, now - from).step();
    let fits = |step: &i64| *step >= least && *step >= kept;
    STEPS.into_iter().find(fits).unwrap_or(86_400)
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: i64 = 2_000_000_000;
    const DAY: i64 = 24 * HOUR;

    #[test]
    fn what_is_not_said_is_the_last_hour_in_at_most_a_thousand_points() {
        let check = |age: i64, step: i64| {
            let range = Range::new(Some(NOW - age), None, None, NOW).unwrap();
            assert_eq!(range.step, step, "{age} s back");
            assert!(range.points() <= Range::CHOSEN, "{range:?}");
        };
        check(60, 10);
        check(HOUR, 10);
        check(3 * HOUR, 30);
        check(DAY, 120);
        check(2 * DAY, 300);
        check(7 * DAY, 1800);
        check(30 * DAY, 3600);
        let hour = Range::new(None, None, None, NOW).unwrap();
        assert_eq!((hour.from, hour.to, hour.step), (NOW - HOUR, NOW, 10));
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        let check = |from: i64, to: i64, step: i64, expected| {
            let range = Range::new(Some(from), Some(to), Some(step), NOW);
            assert_eq!(range.map(drop), Err(expected), "{from} {to} {step}");
        };
        check(NOW, NOW, 10, RangeError::Backwards);
        check(NOW, i64::MIN, 10, RangeError::Backwards);
        check(NOW - 10, NOW + DAY, 10, RangeError::Future);
        check(NOW - 40 * DAY, NOW, 600, RangeError::TooOld);
        check(i64::MIN, NOW, 600, RangeError::TooOld);
        check(NOW - HOUR, NOW, 0, RangeError::Step);
        check(NOW - HOUR, NOW, 15, RangeError::Step);
        check(NOW - HOUR, NOW, 864_000, RangeError::Step);
        check(NOW - 2 * DAY, NOW, 10, RangeError::TooMany);
    }
}
