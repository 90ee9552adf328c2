//! How finely and how long history is kept.

const HOUR: i64 = 3600;
const DAY: i64 = 24 * HOUR;

/// The finer, the shorter.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Tier {
    /// As agents sampled.
    Sampled,
    Minute,
    TenMinutes,
}

impl Tier {
    pub const ALL: [Self; 3] = [Tier::Sampled, Tier::Minute, Tier::TenMinutes];
    /// Those that are made of what was sampled.
    pub const THINNED: [Self; 2] = [Tier::Minute, Tier::TenMinutes];

    /// Seconds between points.
    pub const fn step(self) -> i64 {
        match self {
            Tier::Sampled => crate::STEP,
            Tier::Minute => 60,
            Tier::TenMinutes => 600,
        }
    }

    /// Seconds that one window covers.
    pub const fn span(self) -> i64 {
        self.step() * 60
    }

    /// Seconds that points are kept.
    pub const fn kept(self) -> i64 {
        match self {
            Tier::Sampled => DAY,
            Tier::Minute => 7 * DAY,
            Tier::TenMinutes => 30 * DAY,
        }
    }

    pub fn of_step(step: i64) -> Option<Self> {
        Self::ALL.into_iter().find(|tier| tier.step() == step)
    }

    /// What to read for points that are `step` apart and begin `age` seconds ago:
    /// nothing finer than needed, and whatever reaches back far enough.
    pub fn for_points(step: i64, age: i64) -> Self {
        let reaches = |tier: &Self| age <= tier.kept();
        let coarse = Self::ALL.into_iter().rev().find(|tier| tier.step() <= step && reaches(tier));
        coarse.or_else(|| Self::ALL.into_iter().find(reaches)).unwrap_or(Tier::TenMinutes)
    }

    /// The time before which no window of it is kept at `now`.
    pub fn kept_since(self, now: i64) -> i64 {
        now - self.kept() - self.span()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_more_is_read_than_points_are_asked_for() {
        let check = |step, age, expected| {
            assert_eq!(Tier::for_points(step, age), expected, "step {step}, age {age}");
        };
        check(10, HOUR, Tier::Sampled);
        check(50, DAY, Tier::Sampled);
        check(60, HOUR, Tier::Minute);
        check(600, HOUR, Tier::TenMinutes);
        check(3600, 30 * DAY, Tier::TenMinutes);
        // Finer ones don't reach back.
        check(10, DAY + 1, Tier::Minute);
        check(10, 7 * DAY + 1, Tier::TenMinutes);
        check(10, 400 * DAY, Tier::TenMinutes);
    }

    #[test]
    fn windows_of_one_tier_fill_those_of_the_next() {
        for pair in Tier::ALL.windows(2) {
            assert_eq!(pair[1].span() % pair[0].span(), 0);
            assert_eq!(pair[0].span() % pair[1].step(), 0);
        }
        assert_eq!(Tier::ALL.map(|tier| Tier::of_step(tier.step())), Tier::ALL.map(Some));
        assert_eq!(Tier::of_step(30), None);
    }
}
