//! Audit lines, in the contract's words.

use crate::{Caller, Result, Source, SourceKind};
use model::{AccountId, Timestamp};
use store::{AuditLine, Work, audit};

/// Who the control plane itself is, and who works on its store.
const SYSTEM: &str = "system@localhost";
pub(crate) const OPERATOR: &str = "operator@localhost";

/// In whose log a line stands, and who did it from where.
pub(crate) struct Actor<'a> {
    pub account_id: AccountId,
    pub source: Source,
    /// An e-mail.
    pub user: &'a str,
}

/// Who asks something of an instance, by whatever key.
pub(crate) struct Asker {
    pub account_id: AccountId,
    pub source: Source,
    pub email: String,
}

impl<'a> From<&'a Asker> for Actor<'a> {
    fn from(asker: &'a Asker) -> Self {
        Self { account_id: asker.account_id, source: asker.source, user: &asker.email }
    }
}

impl<'a> From<&'a Caller> for Actor<'a> {
    fn from(caller: &'a Caller) -> Self {
        Self { account_id: caller.account_id, source: caller.source, user: &caller.email }
    }
}

/// Writes a line in the same transaction as the change. `extras` are names and
/// values; a secret is never one of them.
pub(crate) async fn write<'a>(
    work: &mut Work,
    actor: impl Into<Actor<'a>>,
    at: Timestamp,
    event: &str,
    extras: &[(&str, String)],
) -> Result<()> {
    let actor = actor.into();
    let line = AuditLine {
        account_id: actor.account_id,
        at,
        event: event.into(),
        source: actor.source.to_string(),
        user: actor.user.into(),
        extras: join(extras),
    };
    Ok(audit::insert(work, &line).await?)
}

/// The line of something that nobody asked for.
pub(crate) async fn system(
    work: &mut Work,
    account_id: AccountId,
    at: Timestamp,
    event: &str,
    extras: &[(&str, String)],
) -> Result<()> {
    let source = Source { kind: SourceKind::System, address: None }.to_string();
    let (event, user) = (event.into(), SYSTEM.into());
    let line = AuditLine { account_id, at, event, source, user, extras: join(extras) };
    Ok(audit::insert(work, &line).await?)
}

/// The line of something that the operator did to an account.
pub async fn operator(
    work: &mut Work,
    source: Source,
    account_id: AccountId,
    at: Timestamp,
    event: &str,
    extras: &[(&str, String)],
) -> Result<()> {
    Ok(audit::insert(work, &operator_line(source, account_id, at, event, extras)).await?)
}

/// The same, for whoever writes it by other means.
pub fn operator_line(
    source: Source,
    account_id: AccountId,
    at: Timestamp,
    event: &str,
    extras: &[(&str, String)],
) -> AuditLine {
    let (event, user) = (event.into(), OPERATOR.into());
    AuditLine { account_id, at, event, source: source.to_string(), user, extras: join(extras) }
}

/// `k=v; k=v`. A value that could be taken for more than one is quoted.
pub(crate) fn join(extras: &[(&str, String)]) -> String {
    let pair = |(name, value): &(&str, String)| {
        if value.contains([';', '"']) {
            format!("{name}={value:?}")
        } else {
            format!("{name}={value}")
        }
    };
    extras.iter().map(pair).collect::<Vec<_>>().join("; ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_can_not_pretend_to_be_another_one() {
        let check = |value: &str, expected: &str| {
            let extras = [("name", value.to_owned()), ("id", "7".to_owned())];
            assert_eq!(join(&extras), expected);
        };
        check("orders", "name=orders; id=7");
        check("a=b, ü", "name=a=b, ü; id=7");
        check("x; id=9", r#"name="x; id=9"; id=7"#);
        check(r#"x"; id=9"#, r#"name="x\"; id=9"; id=7"#);
    }
}
