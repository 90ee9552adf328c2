//! How many bytes of audit lines an account may write a day.
//!
//! Half of the budget is for ordinary events together. Each event that decides who may do
//! what, or what is paid for, has a share of its own instead, so no flood of other events
//! hides it. A line beyond its share is counted, in the transaction of its change, and the
//! counts become one line an hour ([`super::insert_summary`]).

use super::{AuditLine, Withheld, insert, insert_within};
use crate::{Result, Work};

/// Nouns whose events have a share each.
const NOUNS: [&str; 12] = [
    "account",
    "acl",
    "apikey",
    "ca",
    "certificate",
    "firewall",
    "invoice",
    "login",
    "session",
    "team",
    "tfa",
    "user",
];
/// Other events that have one.
const EVENTS: [&str; 7] = [
    "instance.create",
    "instance.delete",
    "instance.rotate_apikey",
    "instance.rotate_password",
    "recipient.block",
    "recipient.confirm",
    "vpc.delete",
];

/// Parts of the budget. There are at most 32 events with a share, so that they have at
/// most the other half together.
const HALF: i64 = 2;
const PART: i64 = 64;

/// What ordinary events are counted as.
const ORDINARY: &str = "";

/// Writes the line, or counts it if its share of the account's budget is used up. Without a
/// budget it is always written.
pub async fn insert_within_budget(work: &mut Work, line: &AuditLine) -> Result<()> {
    let Some(budget) = work.audit_budget() else {
        return insert(work, line).await;
    };
    let (share, most) = if has_share(&line.event) {
        (&*line.event, budget / PART)
    } else {
        (ORDINARY, budget / HALF)
    };
    insert_within(work, line, share, most).await
}

fn has_share(event: &str) -> bool {
    let noun = event.split('.').next().unwrap_or_default();
    NOUNS.contains(&noun) || EVENTS.contains(&event)
}

/// What a summary says: for each event how many lines were withheld, and of whom.
pub(super) fn summary_extras(withheld: &[Withheld]) -> Vec<(&str, String)> {
    let since = withheld.iter().map(|it| it.since).min();
    let until = withheld.iter().map(|it| it.until).max();
    let mut extras: Vec<(&str, String)> = [("from", since), ("to", until)]
        .into_iter()
        .filter_map(|(name, at)| Some((name, at?.to_string())))
        .collect();
    for of_event in withheld.chunk_by(|a, b| a.event == b.event) {
        let lines: i64 = of_event.iter().map(|it| it.lines).sum();
        let users: Vec<String> =
            of_event.iter().map(|it| format!("{} by {}", it.lines, it.user)).collect();
        extras.push((&of_event[0].event, format!("{lines} ({})", users.join(", "))));
    }
    extras
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_decides_who_may_do_what_has_a_share_of_its_own() {
        for event in
            ["apikey.rotate", "acl.create", "login.failed", "instance.delete", "recipient.block"]
        {
            assert!(has_share(event), "{event}");
        }
        for event in ["topic.create", "topic.delete", "instance.update", "message.create", "x"] {
            assert!(!has_share(event), "{event}");
        }
    }

    #[test]
    fn a_summary_counts_by_event_and_user() {
        let at = |time: &str| format!("2026-11-15T{time}Z").parse().unwrap();
        let withheld = |event: &str, user: &str, lines, since, until| Withheld {
            event: event.into(),
            user: user.into(),
            lines,
            since: at(since),
            until: at(until),
        };
        let rows = [
            withheld("acl.create", "a@x.test", 7, "12:10:00", "12:50:00"),
            withheld("acl.create", "b@x.test", 1, "12:05:00", "12:05:00"),
            withheld("team.update", "a@x.test", 2, "12:20:00", "12:59:59"),
        ];
        let text = super::super::join_extras(&summary_extras(&rows), 2048);
        assert_eq!(
            text,
            "from=2026-11-15T12:05:00Z; to=2026-11-15T12:59:59Z; \
             acl.create=8 (7 by a@x.test, 1 by b@x.test); team.update=2 (2 by a@x.test)"
        );
    }
}
