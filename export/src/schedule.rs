//! When an integration has its turn, and from which minute on. Pure.

use model::{Entropy, InstanceId, IntegrationSystem, SignedDuration, Timestamp};
use series::align;
use ship::retry_pause;
use std::time::Duration;
use watch::metrics::SETTLE;

/// Seconds.
pub const MINUTE: i64 = 60;
/// The turns of a fleet are spread over so much of a minute, from the moment on when the
/// minute before is settled. The rest is for those that are late.
const SPREAD_MS: i64 = 40_000;
/// Seconds back from now to the first minute that is still sent.
const OLDEST: i64 = 24 * 3600;
/// Datadog takes no points from more than an hour ago; a minute is for the way there.
const OLDEST_FOR_DATADOG: i64 = 59 * MINUTE;

const FIRST_PAUSE: Duration = Duration::from_secs(5);
/// A destination that is back is noticed after that.
const LONGEST_PAUSE: Duration = Duration::from_mins(5);
/// Settings that were refused may be good again: keys are unlocked, bills are paid.
pub const REFUSED_PAUSE: SignedDuration = SignedDuration::from_mins(5);
/// No system has us wait any longer.
const LONGEST_AFTER: Duration = Duration::from_hours(1);

/// The end of the last minute that may be sent.
pub fn settled_through(now: i64) -> i64 {
    align(now - SETTLE, MINUTE)
}

/// The beginning of the first minute that is to be sent to a system: what was not sent yet,
/// of a new integration from the minute on that was over when it was made. Times after now
/// are from before a clock was set back.
pub fn first_minute(
    system: IntegrationSystem,
    sent_through: Option<i64>,
    made_at: i64,
    now: i64,
) -> i64 {
    let last_before = |at| settled_through(at) - MINUTE;
    match sent_through {
        Some(sent) if sent <= now => align(sent, MINUTE),
        None if made_at <= now => last_before(made_at),
        _ => last_before(now),
    }
    .max(oldest(system, now))
}

/// The beginning of the first minute that a system still takes.
pub fn oldest(system: IntegrationSystem, now: i64) -> i64 {
    let age = match system {
        IntegrationSystem::Datadog => OLDEST_FOR_DATADOG,
        _ => OLDEST,
    };
    align(now - age + MINUTE - 1, MINUTE)
}

/// From now until the instance's next turn. All integrations of an instance have the same,
/// so that its history is read once for all of them.
pub fn until_turn(instance: InstanceId, now: Timestamp) -> SignedDuration {
    let period = MINUTE * 1000;
    let turn = SETTLE * 1000 + instance.0.wrapping_mul(1009).rem_euclid(SPREAD_MS);
    let into = (now.as_millisecond() - turn).rem_euclid(period);
    SignedDuration::from_millis(period - into)
}

/// 5 s, 10 s, 20 s … 5 min, each shortened by chance, and never less than the system asks for.
pub fn pause(failures: u32, after: Option<Duration>, entropy: &dyn Entropy) -> SignedDuration {
    let doubled = 1 << failures.saturating_sub(1).min(10);
    let longest = (FIRST_PAUSE * doubled).min(LONGEST_PAUSE);
    let after = after.map(|after| after.min(LONGEST_AFTER));
    let pause = retry_pause(longest, after, entropy);
    SignedDuration::try_from(pause).expect("no pause is longer than an hour")
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::SeededEntropy;

    /// Twenty seconds after the end of a minute.
    const NOW: i64 = 1_000_000_040;

    #[test]
    fn a_minute_is_settled_twenty_seconds_after_its_end() {
        assert_eq!(settled_through(NOW - 1), NOW - 80);
        assert_eq!(settled_through(NOW), NOW - 20);
        assert_eq!(settled_through(NOW + 59), NOW - 20);
    }

    #[test]
    fn what_is_sent_first_is_what_was_not_sent_and_is_still_taken() {
        use IntegrationSystem as S;
        let end = NOW - 20;
        let check = |system, sent: Option<i64>, expected: i64| {
            let found = first_minute(system, sent, NOW - 300, NOW);
            assert_eq!(end - found, expected, "{system} after {sent:?}");
        };
        check(S::Librato, None, 360);
        check(S::Librato, Some(end), 0);
        check(S::Librato, Some(end - 600), 600);
        check(S::Librato, Some(0), 24 * 3600 - 60);
        check(S::Otlp, Some(end - 7200), 7200);
        check(S::Newrelic, Some(0), 24 * 3600 - 60);
        check(S::Cloudwatch, Some(0), 24 * 3600 - 60);
        check(S::Datadog, Some(0), 3480);
        check(S::Datadog, Some(end - 600), 600);
        // The clock was set back.
        check(S::Librato, Some(NOW + 3600), 60);
        assert_eq!(first_minute(S::Otlp, None, NOW + 3600, NOW), end - 60);
    }

    #[test]
    fn turns_of_a_fleet_are_spread_over_the_minute_after_it_is_settled() {
        let mut seconds = [0; 60];
        for id in 1..=1000 {
            let now = Timestamp::from_second(1_000_000_020).unwrap();
            let wait = until_turn(InstanceId(id), now);
            assert!(wait.is_positive() && wait <= SignedDuration::from_secs(60), "{id}: {wait:?}");
            let at = now + wait;
            seconds[usize::try_from(at.as_second() % 60).unwrap()] += 1;
            // The next one is a minute later.
            assert_eq!(until_turn(InstanceId(id), at), SignedDuration::from_secs(60));
        }
        assert!(seconds[..20].iter().all(|turns| *turns == 0), "{seconds:?}");
        assert!(seconds[20..].iter().all(|turns| (20..=30).contains(turns)), "{seconds:?}");
    }

    #[test]
    fn pauses_double_and_a_system_is_obeyed_for_an_hour() {
        let entropy = SeededEntropy::new(3);
        for (failures, longest) in [(0, 5), (1, 5), (2, 10), (3, 20), (6, 160), (7, 300), (99, 300)]
        {
            let longest = SignedDuration::from_secs(longest);
            let pauses: Vec<_> = (0..50).map(|_| pause(failures, None, &entropy)).collect();
            let most = pauses.iter().max().unwrap();
            let least = pauses.iter().min().unwrap();
            assert!(*most <= longest && *least >= longest * 3 / 4, "{failures}: {pauses:?}");
            assert!(*most - *least > longest / 10, "{failures}: {pauses:?}");
        }
        let after = |seconds| pause(1, Some(Duration::from_secs(seconds)), &entropy).as_secs();
        assert_eq!([after(90), after(7200)], [90, 3600]);
        assert!((3..=5).contains(&after(1)));
        // The same chance, the same pause.
        let again = |seed| pause(5, None, &SeededEntropy::new(seed));
        assert_eq!(again(7), again(7));
    }
}
