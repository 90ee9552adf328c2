//! Who calls, with a customer key, from the console or as the operator, and what that lets them
//! do.

use crate::audit::{Actor, OPERATOR};
use crate::rights::{Right, narrowed_by_tags, sees_masked};
use crate::{Error, Result};
use model::{
    AccountId, ApiKey, Instance, KeyId, Role, SessionId, Tags, Timestamp, User, UserId, Vpc,
};
use std::fmt;
use std::net::IpAddr;
use store::{Moment, Run, apikeys, sessions, users};

/// Which door a call came through.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SourceKind {
    CustomerApi,
    InstanceApi,
    Console,
    Cli,
}

impl SourceKind {
    pub const fn as_str(self) -> &'static str {
        match self {
            SourceKind::CustomerApi => "customer-api",
            SourceKind::InstanceApi => "instance-api",
            SourceKind::Console => "console",
            SourceKind::Cli => "cli",
        }
    }
}

/// Where a call came from, as the audit log tells it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Source {
    pub kind: SourceKind,
    pub address: Option<IpAddr>,
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.kind.as_str())?;
        self.address.map_or(Ok(()), |address| write!(f, " {address}"))
    }
}

/// A role with the tags that narrow it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Grant {
    pub role: Role,
    pub tags: Tags,
}

impl Grant {
    pub(crate) fn shows(&self, tags: &Tags) -> bool {
        !narrowed_by_tags(self.role) || self.tags.is_empty() || self.tags.meets(tags)
    }
}

/// By what a caller is known.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Credential {
    Key(KeyId),
    Session(SessionId),
}

/// The holder of a customer key, or somebody who is signed in to the console. Roles have no
/// order of power, so the lesser of key and user is what both of them allow.
#[derive(Clone, Debug)]
pub struct Caller {
    pub(crate) account_id: AccountId,
    pub(crate) user_id: UserId,
    pub(crate) credential: Credential,
    pub(crate) email: String,
    /// The user's own for somebody who is signed in.
    pub(crate) key: Grant,
    pub(crate) user: Grant,
    /// When the key expires, if there is one and it does.
    pub(crate) until: Option<Timestamp>,
    pub(crate) source: Source,
    /// Not later than the key was looked up.
    pub(crate) moment: Moment,
}

impl Caller {
    pub(crate) fn new(key: &ApiKey, user: &User, source: Source) -> Self {
        Self {
            account_id: user.account_id,
            user_id: user.id,
            credential: Credential::Key(key.id),
            email: user.email.clone(),
            key: Grant { role: key.role, tags: key.tags.clone() },
            user: Grant { role: user.role, tags: user.tags.clone() },
            until: key.expires_at,
            source,
            moment: Moment::default(),
        }
    }

    /// Who is signed in may do what their user may.
    pub(crate) fn of_session(session: SessionId, user: &User, source: Source) -> Self {
        let own = Grant { role: user.role, tags: user.tags.clone() };
        Self {
            account_id: user.account_id,
            user_id: user.id,
            credential: Credential::Session(session),
            email: user.email.clone(),
            key: own.clone(),
            user: own,
            until: None,
            source,
            moment: Moment::default(),
        }
    }

    /// Looks the key or the session up once more, in the transaction of a change that decides
    /// who may do what: a user who was removed a moment ago changes nothing
    /// more. The caller with the rights of that moment.
    pub(crate) async fn confirm(&self, run: &mut impl Run, right: Right) -> Result<Self> {
        let user = users::find(run, self.user_id).await?.ok_or(Error::NOT_AUTHORIZED)?;
        let caller = match self.credential {
            Credential::Key(id) => {
                let key = apikeys::find_by_id(run, id).await?.ok_or(Error::NOT_AUTHORIZED)?;
                Self::new(&key, &user, self.source)
            }
            Credential::Session(id) => {
                sessions::find_by_id(run, id).await?.ok_or(Error::NOT_AUTHORIZED)?;
                Self::of_session(id, &user, self.source)
            }
        };
        caller.may(right)?;
        Ok(caller)
    }

    pub fn account_id(&self) -> AccountId {
        self.account_id
    }

    pub fn user_id(&self) -> UserId {
        self.user_id
    }

    /// Fails with the role that is needed.
    pub fn may(&self, right: Right) -> Result<()> {
        if self.grants().iter().all(|grant| right.held_by(grant.role)) {
            Ok(())
        } else {
            Err(Error::Forbidden(right.needed()))
        }
    }

    /// Whether the instance is the caller's to see. One that is being torn
    /// down is nobody's.
    pub fn sees(&self, instance: &Instance) -> bool {
        instance.deleted_at.is_none() && self.sees_tags_of(instance)
    }

    /// The same, also for an instance that is being torn down.
    pub(crate) fn sees_tags_of(&self, instance: &Instance) -> bool {
        instance.account_id == self.account_id
            && self.grants().iter().all(|grant| grant.shows(&instance.tags))
    }

    /// Whether the network is the caller's to see.
    pub fn sees_vpc(&self, vpc: &Vpc) -> bool {
        vpc.deleted_at.is_none()
            && vpc.account_id == self.account_id
            && self.grants().iter().all(|grant| grant.shows(&vpc.tags))
    }

    /// Whether documents come without their secrets.
    pub fn masked(&self) -> bool {
        self.grants().iter().any(|grant| sees_masked(grant.role))
    }

    fn grants(&self) -> [&Grant; 2] {
        [&self.key, &self.user]
    }
}

/// The operator, who works on the store itself.
///
/// Stands as the caller of use cases that no customer has. Whoever can open the
/// store is the operator, so making one is for commands that have opened it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Operator {
    source: Source,
}

impl Operator {
    pub fn of_opened_store() -> Self {
        Self { source: Source { kind: SourceKind::Cli, address: None } }
    }

    pub(crate) fn acting_on(self, account_id: AccountId) -> Actor<'static> {
        Actor { account_id, source: self.source, user: OPERATOR }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::UserId;

    fn caller(key: Role, user: Role) -> Caller {
        let grant = |role| Grant { role, tags: Tags::default() };
        Caller {
            account_id: AccountId("00000000-0000-0000-0000-000000000001".parse().unwrap()),
            user_id: UserId("00000000-0000-0000-0000-000000000002".parse().unwrap()),
            credential: Credential::Key(KeyId(
                "00000000-0000-0000-0000-000000000003".parse().unwrap(),
            )),
            email: "a@example.test".into(),
            key: grant(key),
            user: grant(user),
            until: None,
            source: Source { kind: SourceKind::CustomerApi, address: None },
            moment: Moment::default(),
        }
    }

    #[test]
    fn a_key_never_does_more_than_its_user_nor_a_user_more_than_the_key() {
        for key in Role::ALL {
            for user in Role::ALL {
                for right in Right::ALL {
                    let both = right.held_by(key) && right.held_by(user);
                    assert_eq!(caller(key, user).may(right).is_ok(), both);
                    assert_eq!(caller(user, key).may(right).is_ok(), both);
                }
            }
        }
    }

    #[test]
    fn a_monitor_on_either_side_masks() {
        assert!(caller(Role::Monitor, Role::Admin).masked());
        assert!(caller(Role::Admin, Role::Monitor).masked());
        assert!(!caller(Role::Member, Role::Admin).masked());
    }

    #[test]
    fn a_source_reads_as_the_audit_log_writes_it() {
        let source =
            Source { kind: SourceKind::CustomerApi, address: Some("10.0.0.7".parse().unwrap()) };
        assert_eq!(source.to_string(), "customer-api 10.0.0.7");
        assert_eq!(Source { kind: SourceKind::Cli, address: None }.to_string(), "cli");
    }
}
