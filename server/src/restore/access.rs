//! Which keys a restore keeps, and what it says of those that it does not.

use anyhow::{Result, bail};
use model::KeyId;
use std::collections::BTreeSet;
use std::fmt::Write as _;
use store::backup::Dropped;
use store::{Work, apikeys};

/// Fails if a key that is to be kept is not in the backup.
pub async fn check_kept(work: &mut Work, keep: &BTreeSet<KeyId>) -> Result<()> {
    for id in keep {
        if apikeys::find_by_id(work, *id).await?.is_none() {
            bail!(
                "it has no key {id}, which --keep-key names; without it the restore says which \
                 keys it revokes"
            );
        }
    }
    Ok(())
}

/// What the operator has to know, in lines.
pub fn words(dropped: &Dropped, is_known: bool) -> String {
    let Dropped { keys, users, invitations, instances } = dropped;
    let mut text = if is_known {
        format!(
            "Who may do what is as in the store before. Of the backup, {} customer keys, {users} \
             users and {invitations} invitations stay revoked, and {instances} instances that \
             were deleted since have new keys of their own.\n",
            keys.len()
        )
    } else {
        format!(
            "The store before can't be read, so nothing says what was revoked since that backup. \
             {} customer keys are revoked, {invitations} invitations are withdrawn, and \
             {instances} instances have new keys of their own, which `details` tells. Make a new \
             customer key with: castellan key create <e-mail>. Passwords of default users are \
             those of the backup: rotate those that were rotated since. Roles and tags are those of the \
             backup, too.\n",
            keys.len()
        )
    };
    if !keys.is_empty() {
        text.push_str(
            "To keep one of these, move castellan.db.before-restore to a safe place and restore \
             again with --keep-key:\n",
        );
    }
    for dropped in keys {
        let (key, user) = (&dropped.key, &dropped.user);
        let _ = writeln!(text, "  {}  {}  {}  {}", key.id, user.email, key.role, key.comment);
    }
    text
}
