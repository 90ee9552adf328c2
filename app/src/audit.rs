//! Audit lines, in the contract's words.

use crate::{Caller, Result};
use model::Timestamp;
use store::{AuditLine, Work, audit};

/// Writes the caller's line in the same transaction as the change. `extras`
/// are names and values; a secret is never one of them.
pub(crate) async fn write(
    work: &mut Work,
    caller: &Caller,
    at: Timestamp,
    event: &str,
    extras: &[(&str, String)],
) -> Result<()> {
    let line = AuditLine {
        account_id: caller.account_id,
        at,
        event: event.into(),
        source: caller.source.to_string(),
        user: caller.email.clone(),
        extras: join(extras),
    };
    Ok(audit::insert(work, &line).await?)
}

/// `k=v; k=v`.
pub(crate) fn join(extras: &[(&str, String)]) -> String {
    let pairs: Vec<String> = extras.iter().map(|(name, value)| format!("{name}={value}")).collect();
    pairs.join("; ")
}
