//! People who are signed in to the console, and what lets them in once.

use crate::{LoginTokenId, SessionId, SignedDuration, Timestamp, UserId, words};
use std::net::IpAddr;

/// Somebody is signed in with one browser. What that browser shows is never stored, only its
/// hash.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Session {
    pub id: SessionId,
    pub user_id: UserId,
    /// A one-time link was used, and no password.
    pub by_link: bool,
    pub started_at: Timestamp,
    /// To the minute.
    pub last_seen_at: Timestamp,
    /// Where it was started from, if that is known.
    pub address: Option<IpAddr>,
    /// As the browser calls itself.
    pub browser: String,
}

impl Session {
    /// It ends this long after the last request.
    pub const IDLE: SignedDuration = SignedDuration::from_hours(12);
    /// And this long after its start, whatever its user does.
    pub const LIFE: SignedDuration = SignedDuration::from_hours(24 * 30);

    /// When it ends if nobody is seen again.
    pub fn ends_at(&self) -> Timestamp {
        (self.last_seen_at + Self::IDLE).min(self.started_at + Self::LIFE)
    }

    pub fn is_over(&self, now: Timestamp) -> bool {
        self.ends_at() <= now
    }
}

words! {
    /// What a text that is good once is for.
    pub enum LoginPurpose {
        /// It stands in a link and signs its user in.
        Link = "link",
        /// The password was right, and something is missing yet.
        AfterPassword = "after password",
        /// The same after a link.
        AfterLink = "after link",
    }
}

/// A text that is good once, for one user; not the text itself.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LoginToken {
    pub id: LoginTokenId,
    pub user_id: UserId,
    pub purpose: LoginPurpose,
    pub created_at: Timestamp,
    pub expires_at: Timestamp,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Entropy as _, SeededEntropy};

    #[test]
    fn a_session_ends_when_nobody_is_seen_and_after_thirty_days_anyway() {
        let started_at: Timestamp = "2026-11-15T12:00:00Z".parse().unwrap();
        let entropy = SeededEntropy::new(1);
        let check = |seen_after: i64, now_after: i64, expected: bool| {
            let (seen, now) =
                (SignedDuration::from_hours(seen_after), SignedDuration::from_hours(now_after));
            let session = Session {
                id: SessionId(entropy.uuid()),
                user_id: UserId(entropy.uuid()),
                by_link: false,
                started_at,
                last_seen_at: started_at + seen,
                address: None,
                browser: String::new(),
            };
            assert_eq!(session.is_over(started_at + now), expected, "{seen_after} {now_after}");
        };
        check(0, 0, false);
        check(0, 11, false);
        check(0, 12, true);
        check(11, 12, false);
        check(719, 719, false);
        check(719, 720, true);
    }
}
