//! Customer keys: who holds one, making, replacing and revoking them, and when
//! they were last used.

mod grant;
mod operate;
mod own;

pub use operate::{KeyOf, NewKey, create, list, revoke};
pub use own::{NewOwnKey, create_own, delete, list_visible};

use crate::audit::{self, Actor};
use crate::caller::Credential;
use crate::{App, Caller, Error, Grant, InstanceAccess, Result, Right, Source};
use model::{ApiKey, KeyId, Secret, SignedDuration, Timestamp, User, UserId};
use store::{KeyUse, Work, apikeys, hash_key, instances, users};

/// A key and the user whose it is.
pub(crate) struct KeyHolder {
    key: ApiKey,
    user: User,
}

/// The holder of a customer key. Looked up on every request, so that a change of
/// role or a revoked key counts at once. A key that has expired is as good as none.
pub async fn authenticate(source: Source, app: &App, key: &Secret) -> Result<Caller> {
    let look_up = async || {
        let mut reader = app.store().reader();
        let key = apikeys::find(&mut reader, key).await?.ok_or(Error::NOT_AUTHORIZED)?;
        let user = users::find(&mut reader, key.user_id).await?.ok_or(Error::NOT_AUTHORIZED)?;
        Ok::<_, Error>(KeyHolder { key, user })
    };
    let moment = app.store().moment();
    let holder = app.key_holders.get_or_make(app.store(), moment, hash_key(key), look_up).await?;
    let now = app.now();
    if holder.key.is_expired(now) {
        return Err(Error::NOT_AUTHORIZED);
    }
    note_use(app, &holder.key, KeyUse { at: now, from: source.address });
    Ok(Caller { moment, ..Caller::new(&holder.key, &holder.user, source) })
}

/// The instance whose own key this is.
pub async fn authenticate_instance(
    source: Source,
    app: &App,
    key: &Secret,
) -> Result<InstanceAccess> {
    let found = instances::find_by_apikey(&mut app.store().reader(), key).await?;
    let instance = found.ok_or(Error::NOT_AUTHORIZED)?;
    Ok(InstanceAccess::of_owner(instance, source))
}

/// Replaces the key in use: a new key with the role, tags, comment and expiry of the one that
/// the caller came with, which stops at that moment. Of several at once one wins; the others
/// came with a key that is gone.
pub async fn rotate(caller: &Caller, app: &App) -> Result<Secret> {
    let secret = app.entropy().key();
    let mut work = app.store().begin().await?;
    caller.confirm(&mut work, Right::UseOwnAccess).await?;
    let Credential::Key(id) = caller.credential else {
        let sentence = "No key was used that could be replaced; make a new one and delete the old";
        return Err(Error::Refused(sentence.into()));
    };
    let old = apikeys::find_by_id(&mut work, id).await?.ok_or(Error::NOT_AUTHORIZED)?;
    apikeys::remove(&mut work, old.id).await?;
    let grounds = Grounds {
        user_id: caller.user_id,
        grant: caller.key.clone(),
        comment: &old.comment,
        expires_at: old.expires_at,
        event: "apikey.rotate",
        by: caller.into(),
    };
    insert_key(&mut work, app, grounds, &secret).await?;
    work.commit().await?;
    Ok(secret)
}

/// On what a key is made.
pub(crate) struct Grounds<'a> {
    pub user_id: UserId,
    pub grant: Grant,
    pub comment: &'a str,
    pub expires_at: Option<Timestamp>,
    /// `apikey.create` or `apikey.rotate`.
    pub event: &'static str,
    pub by: Actor<'a>,
}

/// The one place that writes a key, with its audit line. The store keeps no readable copy of
/// the secret.
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
        expires_at: grounds.expires_at,
        last_used_at: None,
        last_used_from: None,
    };
    apikeys::insert(work, &key, secret).await?;
    let mut extras = vec![("role", key.role.to_string()), ("comment", key.comment.clone())];
    if let Some(end) = key.expires_at {
        extras.push(("expires_at", end.to_string()));
    }
    audit::write(work, grounds.by, now, grounds.event, &extras).await?;
    Ok(key)
}

/// A key that was written within this time is not written again.
const GRAIN: SignedDuration = SignedDuration::from_mins(1);

/// Notes that a key was used, to the minute and in memory, so that no request waits for it or
/// fails by it.
fn note_use(app: &App, key: &ApiKey, used: KeyUse) {
    if key.last_used_at.is_none_or(|at| used.at.duration_since(at) >= GRAIN) {
        // The first of a minute stands for all of it.
        app.last_used().entry(key.id).or_insert(used);
    }
}

/// Writes the uses since the last flush, in one transaction. What can't be
/// written is kept for the next time.
pub async fn flush_last_used(app: &App) -> Result<()> {
    let batch = std::mem::take(&mut *app.last_used());
    if batch.is_empty() {
        return Ok(());
    }
    let used: Vec<(KeyId, KeyUse)> = batch.iter().map(|(id, used)| (*id, *used)).collect();
    let written = async {
        let mut work = app.store().begin().await?;
        apikeys::set_last_used(&mut work, &used).await?;
        work.commit().await
    };
    if let Err(error) = written.await {
        let mut waiting = app.last_used();
        waiting.extend(batch);
        return Err(error.into());
    }
    Ok(())
}
