//! Audit lines, in the contract's words, each of a bounded size.
//!
//! Every line keeps its account within its bytes a day, but those of the operator, which are
//! always written.

use crate::{Caller, Result, Source, SourceKind};
use model::{AccountId, Timestamp};
use store::audit::{self, MOST_EXTRAS, join_extras};
use store::{AuditLine, Work};

/// Who works on the store of the control plane.
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
    write_within(work, actor, at, event, extras, MOST_EXTRAS).await
}

/// The same with at most so many bytes of extras.
pub(crate) async fn write_within<'a>(
    work: &mut Work,
    actor: impl Into<Actor<'a>>,
    at: Timestamp,
    event: &str,
    extras: &[(&str, String)],
    most: usize,
) -> Result<()> {
    let actor = actor.into();
    let line = AuditLine {
        account_id: actor.account_id,
        at,
        event: event.into(),
        source: actor.source.to_string(),
        user: actor.user.into(),
        extras: join_extras(extras, most),
    };
    if actor.source.kind == SourceKind::Cli {
        return Ok(audit::insert(work, &line).await?);
    }
    Ok(audit::insert_within_budget(work, &line).await?)
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

/// The same line, for a caller that writes it by other means.
pub fn operator_line(
    source: Source,
    account_id: AccountId,
    at: Timestamp,
    event: &str,
    extras: &[(&str, String)],
) -> AuditLine {
    let (event, user) = (event.into(), OPERATOR.into());
    let extras = join_extras(extras, MOST_EXTRAS);
    AuditLine { account_id, at, event, source: source.to_string(), user, extras }
}
