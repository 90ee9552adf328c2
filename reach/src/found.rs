//! Whether somebody else comes back before a broker that hangs is ended.

use crate::look::Asked;
use model::{Server, ServerId};

/// A server as a look found it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Found {
    Works,
    /// It takes what it is asked, and says nothing.
    Stuck,
    /// It was let stop a moment ago, and is back soon.
    Leaving,
    /// It shall run, and is not there.
    Away,
    /// Nobody waits for it: it was stopped, or is no broker.
    Out,
}

impl Found {
    pub fn of(server: &Server, asked: &Asked, lately: &[ServerId]) -> Self {
        let node = &server.node_id;
        if asked.views.contains_key(node) {
            Self::Works
        } else if server.stopped || !asked.silent.contains(node) {
            Self::Out
        } else if lately.contains(&server.id) {
            Self::Leaving
        } else if asked.stuck.contains(node) {
            Self::Stuck
        } else {
            Self::Away
        }
    }
}

/// Whoever is away comes back before one that hangs is ended, as long as there is a quorum
/// to come back to, or one that forms with those who are leaving. All but the one that
/// hangs are given, which is a controller itself or not.
pub(crate) fn comes_first(controllers: &[Found], others: &[Found], is_controller: bool) -> bool {
    let helps = |found: &&Found| matches!(found, Found::Works | Found::Leaving);
    let voters = controllers.len() + usize::from(is_controller);
    let has_quorum = controllers.iter().filter(helps).count() * 2 > voters;
    let is_awaited = |found: &Found| matches!(found, Found::Away | Found::Leaving);
    has_quorum && controllers.iter().chain(others).any(is_awaited)
}

#[cfg(test)]
mod tests {
    use super::*;
    use Found::{Away, Leaving, Out, Stuck, Works};

    /// Beside a controller that hangs.
    fn check(controllers: &[Found], others: &[Found], expected: bool) {
        let first = comes_first(controllers, others, true);
        assert_eq!(first, expected, "{controllers:?}, {others:?}");
    }

    #[test]
    fn whoever_is_away_comes_back_to_a_quorum() {
        check(&[Works, Works], &[], false);
        check(&[Works, Works], &[Works, Away], true);
        check(&[Works, Works], &[Works, Out], false);
        check(&[Works, Works], &[Works, Stuck], false);
    }

    /// There is nothing to come back to until the one that hangs is restarted.
    #[test]
    fn without_a_quorum_nobody_is_waited_for() {
        check(&[Works, Away], &[], false);
        check(&[Away, Away], &[Works, Works], false);
        check(&[Works, Stuck], &[Away], false);
    }

    /// A broker that came back without a quorum may seem to hang until it has one.
    #[test]
    fn a_quorum_that_forms_with_those_who_are_leaving_is_waited_for() {
        check(&[Works, Leaving], &[], true);
        check(&[Works, Leaving], &[Works, Works], true);
        check(&[Stuck, Leaving], &[], false);
        check(&[Works, Works], &[Leaving], true);
    }

    #[test]
    fn one_that_has_no_vote_does_not_count() {
        assert!(!comes_first(&[Works, Away, Away], &[], false));
        assert!(comes_first(&[Works, Works, Away], &[], false));
        assert!(comes_first(&[Works, Leaving, Stuck], &[], false));
    }
}
