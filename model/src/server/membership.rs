//! Whether a server belongs to its cluster, comes or goes.

crate::words! {
    /// joining → member → leaving, until the row is removed with the server. A cancelled
    /// change turns joining servers into leaving ones, and leaving ones into members.
    pub enum Membership {
        /// Added by a change that has not ended.
        Joining = "joining",
        Member = "member",
        /// Gives its replicas and its vote to others, and is removed.
        Leaving = "leaving",
    }
}

impl Membership {
    /// The change that added it has ended. None: it was not joining.
    pub fn join(self) -> Option<Self> {
        (self == Self::Joining).then_some(Self::Member)
    }

    /// None: it is leaving already.
    pub fn leave(self) -> Option<Self> {
        (self != Self::Leaving).then_some(Self::Leaving)
    }

    /// What it is once the change is undone that made it join or leave.
    #[must_use]
    pub fn undo(self) -> Self {
        match self {
            Self::Joining => Self::Leaving,
            Self::Member | Self::Leaving => Self::Member,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Membership::{self, Joining, Leaving, Member};

    #[test]
    fn only_legal_moves_are_made() {
        let check = |from: Membership, join, leave, undo| {
            assert_eq!((from.join(), from.leave(), from.undo()), (join, leave, undo));
        };
        check(Joining, Some(Member), Some(Leaving), Leaving);
        check(Member, None, Some(Leaving), Member);
        check(Leaving, None, None, Member);
    }
}
