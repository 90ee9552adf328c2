//! The one place that writes a key, with its audit line.

use crate::audit::{self, Actor};
use crate::{App, Grant, Result};
use model::{ApiKey, KeyId, Secret, UserId};
use store::{Work, apikeys};

/// On what a key is made.
pub(crate) struct Grounds<'a> {
    pub user_id: UserId,
    pub grant: Grant,
    pub comment: &'a str,
    /// `apikey.create` or `apikey.rotate`.
    pub event: &'static str,
    pub by: Actor<'a>,
}

/// Writes a key. The secret is readable to whoever has it here, and never
/// again.
pub(crate) async fn insert_key(
    work: &mut Work,
    app: &App,
    grounds: Grounds<'_>,
    secret: &Secret,
) -> Result<ApiKey> {
    let now = app.now();
    let key = ApiKey {
        id: KeyId(app.entropy().uuid()),
        user_id: grounds.user_id,
        role: grounds.grant.role,
        tags: grounds.grant.tags,
        comment: grounds.comment.into(),
        created_at: now,
        last_used_at: None,
    };
    apikeys::insert(work, &key, secret).await?;
    let extras = [("role", key.role.to_string()), ("comment", key.comment.clone())];
    audit::write(work, grounds.by, now, grounds.event, &extras).await?;
    Ok(key)
}
