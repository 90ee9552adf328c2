//! Whether an alarm moves: pure, and decided by the time of what was measured,
//! never by the time at which it came. So samples that come late, after the
//! control plane was away, make the same story.

use model::{AlarmSpec, Incident, SignedDuration, Timestamp};
use std::ops::RangeInclusive;

/// How long a level must be well on the good side before people are notified that
/// it is over.
const CALM: RangeInclusive<i64> = 30..=60;

/// Where a value stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Level {
    /// Beyond the threshold.
    Beyond,
    /// Back, but so near that it may be beyond again at any moment.
    Near,
    Clear,
}

/// What becomes of an incident.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Move {
    Stay,
    /// The first sign; nobody is notified yet.
    Begin,
    /// People are notified. Without an incident: at once.
    Trigger,
    Remind,
    /// It went before its time.
    Forget,
    /// It went, and begins anew: in between nobody knows what was.
    BeginAnew,
    /// On the good side from now on, if it stays there.
    Settle,
    Unsettle,
    Resolve,
}

/// `gap` says that too long passed since the value was last known to hold. What lies after
/// `at` was written before a clock was set back: it counts as if it were not known since when
/// it is so, or people would wait for as long as the clock went back.
pub fn judge(
    spec: &AlarmSpec,
    incident: Option<&Incident>,
    level: Level,
    at: Timestamp,
    gap: bool,
) -> Move {
    let time = SignedDuration::from_secs(spec.time_threshold.unwrap_or(0));
    let Some(incident) = incident else {
        return match level {
            Level::Beyond if time.is_zero() => Move::Trigger,
            Level::Beyond => Move::Begin,
            _ => Move::Stay,
        };
    };
    let Some(triggered_at) = incident.triggered_at else {
        return match level {
            Level::Beyond if gap || incident.judged_at() > at => Move::BeginAnew,
            Level::Beyond if at.duration_since(incident.since) >= time => Move::Trigger,
            Level::Beyond => Move::Stay,
            _ => Move::Forget,
        };
    };
    match (level, incident.clear_since) {
        (Level::Clear, None) => Move::Settle,
        (Level::Clear, Some(since)) if since > at => Move::Settle,
        (Level::Clear, Some(since)) if at.duration_since(since) >= calm(time) => Move::Resolve,
        (Level::Clear, Some(_)) => Move::Stay,
        (_, Some(_)) => Move::Unsettle,
        (_, None) => {
            let notified = incident.reminded_at.unwrap_or(triggered_at);
            let due = spec.reminder_interval.map(SignedDuration::from_secs);
            match due {
                Some(due) if notified > at || at.duration_since(notified) >= due => Move::Remind,
                _ => Move::Stay,
            }
        }
    }
}

/// What needs long to fire needs long to be over.
fn calm(time: SignedDuration) -> SignedDuration {
    SignedDuration::from_secs(time.as_secs().clamp(*CALM.start(), *CALM.end()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::{AlarmId, AlarmType, IncidentId, InstanceId};

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(second).unwrap()
    }

    fn incident() -> Incident {
        Incident {
            id: IncidentId(1),
            instance_id: InstanceId(1),
            alarm_id: AlarmId(1),
            about: String::new(),
            since: at(100),
            seen_at: None,
            triggered_at: None,
            reminded_at: None,
            clear_since: None,
            resolved_at: None,
            value: None,
            message: String::new(),
        }
    }

    /// Lets an alarm see a row of levels, ten seconds apart, and says when it
    /// moved.
    fn story(time: i64, reminder: Option<i64>, levels: &str) -> String {
        let spec = AlarmSpec {
            reminder_interval: reminder,
            ..AlarmSpec::first(AlarmType::Cpu, Some(90), Some(time))
        };
        let mut open: Option<Incident> = None;
        let mut moves = String::new();
        for (number, level) in levels.chars().enumerate() {
            let now = at(100 + 10 * i64::try_from(number).unwrap());
            let gap = level == 'G';
            let level = match level {
                'B' | 'G' => Level::Beyond,
                'n' => Level::Near,
                _ => Level::Clear,
            };
            let next = judge(&spec, open.as_ref(), level, now, gap);
            let kept = open.clone().unwrap_or(Incident { since: now, ..incident() });
            (open, moves) = match next {
                Move::Stay => (open, moves + "."),
                Move::Begin => (Some(kept), moves + "b"),
                Move::BeginAnew => (Some(Incident { since: now, ..kept }), moves + "a"),
                Move::Trigger => (Some(Incident { triggered_at: Some(now), ..kept }), moves + "T"),
                Move::Remind => (Some(Incident { reminded_at: Some(now), ..kept }), moves + "m"),
                Move::Forget => (None, moves + "f"),
                Move::Settle => (Some(Incident { clear_since: Some(now), ..kept }), moves + "s"),
                Move::Unsettle => (Some(Incident { clear_since: None, ..kept }), moves + "u"),
                Move::Resolve => (None, moves + "R"),
            };
        }
        moves
    }

    #[test]
    fn a_level_must_hold_for_its_whole_time() {
        let check = |levels: &str, expected: &str| assert_eq!(story(30, None, levels), expected);
        check("BBBB", "b..T");
        check("BBB-BBBB", "b..fb..T");
        check("BBBnBBBB", "b..fb..T");
        check("BBGBBB", "b.a..T");
        check("----", "....");
    }

    #[test]
    fn at_once_means_at_once() {
        assert_eq!(story(0, None, "-B-"), ".Ts");
        assert_eq!(story(0, None, "B-B----B"), "Tsus..RT");
    }

    #[test]
    fn a_value_on_the_edge_does_not_flap() {
        let check = |levels: &str, expected: &str| assert_eq!(story(30, None, levels), expected);
        check("BBBBnnnBnn", "b..T......");
        check("BBBB--B----", "b..Ts.us..R");
        check("BBBB-n----", "b..Tsus..R");
        check("BBBB----B", "b..Ts..Rb");
    }

    #[test]
    fn what_lies_ahead_since_a_clock_was_set_back_keeps_nobody_waiting() {
        let spec = AlarmSpec {
            reminder_interval: Some(60),
            ..AlarmSpec::first(AlarmType::Cpu, Some(90), Some(30))
        };
        let check = |is: &Incident, level: Level, expected: Move| {
            assert_eq!(judge(&spec, Some(is), level, at(50), false), expected, "{is:?}");
        };
        let waits = incident();
        check(&waits, Level::Beyond, Move::BeginAnew);
        check(&waits, Level::Clear, Move::Forget);
        check(
            &Incident { since: at(10), seen_at: Some(at(100)), ..waits.clone() },
            Level::Beyond,
            Move::BeginAnew,
        );
        let fired = Incident { triggered_at: Some(at(130)), ..waits };
        check(&fired, Level::Beyond, Move::Remind);
        check(&fired, Level::Clear, Move::Settle);
        let settles = Incident { clear_since: Some(at(200)), ..fired };
        check(&settles, Level::Clear, Move::Settle);
        check(&settles, Level::Beyond, Move::Unsettle);
    }

    #[test]
    fn reminders_come_while_it_goes_on() {
        assert_eq!(story(0, Some(30), "BBBBBBB----B"), "T..m..ms..RT");
        assert_eq!(story(0, None, "BBBBBBB"), "T......");
    }
}
