//! Which role may do what: the contract's matrix, in one place.

use model::Role;

/// A row of the matrix.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Right {
    /// Every read of instances, under an instance, of networks.
    SeeInstances,
    /// Create and delete instances, networks and their peering; change an
    /// instance's tags.
    CreateInstances,
    /// Every other change under an instance.
    ChangeInstances,
    /// Plans and regions.
    UseCatalogue,
    /// One's own keys and sessions.
    UseOwnAccess,
    SeeInvoices,
    /// What the account says of itself, and whom invoices are for.
    ManageAccount,
    /// The team, and keys of others.
    ManageTeam,
    SeeAuditLog,
}

impl Right {
    pub const ALL: [Right; 9] = [
        Right::SeeInstances,
        Right::CreateInstances,
        Right::ChangeInstances,
        Right::UseCatalogue,
        Right::UseOwnAccess,
        Right::SeeInvoices,
        Right::ManageAccount,
        Right::ManageTeam,
        Right::SeeAuditLog,
    ];

    /// The roles that hold it.
    pub const fn holders(self) -> &'static [Role] {
        use Role::{Admin, BillingManager, Devops, Member, Monitor};
        match self {
            Right::SeeInstances => &[Admin, Devops, Member, Monitor],
            Right::CreateInstances | Right::SeeAuditLog => &[Admin, Devops],
            Right::ChangeInstances => &[Admin, Devops, Member],
            Right::UseCatalogue | Right::UseOwnAccess => {
                &[Admin, Devops, Member, Monitor, BillingManager]
            }
            Right::SeeInvoices | Right::ManageAccount => &[Admin, BillingManager],
            Right::ManageTeam => &[Admin],
        }
    }

    pub fn held_by(self, role: Role) -> bool {
        self.holders().contains(&role)
    }

    /// Which role is needed, in a sentence.
    pub fn needed(self) -> String {
        let names: Vec<&str> = self.holders().iter().map(|role| role.as_str()).collect();
        match names.split_last() {
            Some((last, [])) => format!("This needs the role {last}"),
            Some((last, others)) => {
                format!("This needs one of the roles {} or {last}", others.join(", "))
            }
            None => "No role may do this".into(),
        }
    }
}

/// Whether tags narrow what this role sees.
pub fn narrowed_by_tags(role: Role) -> bool {
    matches!(role, Role::Member | Role::Monitor)
}

/// Whether this role sees documents without their secrets.
pub fn sees_masked(role: Role) -> bool {
    role == Role::Monitor
}

/// Whether `role` may do nothing that `other` may not.
pub fn is_within(role: Role, other: Role) -> bool {
    let rights = Right::ALL.iter().all(|right| !right.held_by(role) || right.held_by(other));
    rights && (sees_masked(role) || !sees_masked(other) || !Right::SeeInstances.held_by(role))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_matrix_is_the_contracts() {
        // admin, devops, member, monitor, billing manager
        let check = |right: Right, expected: [bool; 5]| {
            assert_eq!(Role::ALL.map(|role| right.held_by(role)), expected, "{right:?}");
        };
        check(Right::SeeInstances, [true, true, true, true, false]);
        check(Right::CreateInstances, [true, true, false, false, false]);
        check(Right::ChangeInstances, [true, true, true, false, false]);
        check(Right::UseCatalogue, [true, true, true, true, true]);
        check(Right::UseOwnAccess, [true, true, true, true, true]);
        check(Right::SeeInvoices, [true, false, false, false, true]);
        check(Right::ManageAccount, [true, false, false, false, true]);
        check(Right::ManageTeam, [true, false, false, false, false]);
        check(Right::SeeAuditLog, [true, true, false, false, false]);
    }

    #[test]
    fn roles_within_roles() {
        use Role::{Admin, BillingManager, Devops, Member, Monitor};
        let check = |other: Role, expected: &[Role]| {
            let within: Vec<Role> =
                Role::ALL.into_iter().filter(|role| is_within(*role, other)).collect();
            assert_eq!(within, expected, "within {other}");
        };
        check(Admin, &[Admin, Devops, Member, Monitor, BillingManager]);
        check(Devops, &[Devops, Member, Monitor]);
        check(Member, &[Member, Monitor]);
        check(Monitor, &[Monitor]);
        check(BillingManager, &[BillingManager]);
    }

    #[test]
    fn a_refusal_names_the_roles() {
        assert_eq!(Right::ManageTeam.needed(), "This needs the role admin");
        assert_eq!(
            Right::ChangeInstances.needed(),
            "This needs one of the roles admin, devops or member"
        );
    }
}
