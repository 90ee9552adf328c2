//! What the operator does with customer keys.

use super::grant::Bounds;
use super::{Grounds, insert_key};
use crate::{App, Error, Grant, Operator, Problems, Result, audit, limits};
use model::{AccountId, ApiKey, KeyComment, KeyId, Role, Secret, Tags, User, UserId};
use store::{Run, apikeys, users};

/// What a key shall be; all of it optional.
#[derive(Clone, Debug, Default)]
pub struct NewKey {
    /// The user's own if absent; never more than that.
    pub role: Option<Role>,
    /// The user's own if empty; never others.
    pub tags: Vec<String>,
    pub comment: String,
}

/// A key and whose it is.
#[derive(Clone, Debug)]
pub struct KeyOf {
    pub key: ApiKey,
    pub email: String,
}

/// Makes a key for a user. The key itself is readable here and never again.
pub async fn create(
    operator: Operator,
    app: &App,
    user_id: UserId,
    new: NewKey,
) -> Result<(ApiKey, Secret)> {
    let secret = app.entropy().key();
    let mut work = app.store().begin().await?;
    let user = users::find(&mut work, user_id).await?.ok_or(Error::NotFound)?;
    let (grant, comment) = check(&user, new)?;
    limits::check_key(&mut work, app, &user).await?;
    let grounds = Grounds {
        user_id,
        grant,
        comment: comment.as_str(),
        expires_at: None,
        event: "apikey.create",
        by: operator.acting_on(user.account_id),
    };
    let key = insert_key(&mut work, app, grounds, &secret).await?;
    work.commit().await?;
    Ok((key, secret))
}

/// The keys of everybody in an account, oldest first.
pub async fn list(_: Operator, app: &App, account: AccountId) -> Result<Vec<KeyOf>> {
    list_account(&mut app.store().reader(), account).await
}

pub(super) async fn list_account(run: &mut impl Run, account: AccountId) -> Result<Vec<KeyOf>> {
    let team = users::list(run, account).await?;
    let keys = apikeys::list_account(run, account).await?;
    let owned = keys.into_iter().filter_map(|key| {
        let owner = team.iter().find(|user| user.id == key.user_id)?;
        Some(KeyOf { email: owner.email.clone(), key })
    });
    Ok(owned.collect())
}

/// The key stops at that moment.
pub async fn revoke(operator: Operator, app: &App, id: KeyId) -> Result<KeyOf> {
    let mut work = app.store().begin().await?;
    let key = apikeys::find_by_id(&mut work, id).await?.ok_or(Error::NotFound)?;
    let user = users::find(&mut work, key.user_id).await?.ok_or(Error::NotFound)?;
    apikeys::remove(&mut work, id).await?;
    let extras = [("email", user.email.clone()), ("comment", key.comment.clone())];
    let by = operator.acting_on(user.account_id);
    audit::write(&mut work, by, app.now(), "apikey.revoke", &extras).await?;
    work.commit().await?;
    Ok(KeyOf { key, email: user.email })
}

fn check(user: &User, new: NewKey) -> Result<(Grant, KeyComment)> {
    let mut problems = Problems::default();
    let comment = problems.take("comment", KeyComment::parse(new.comment)).unwrap_or_default();
    let tags = problems.take("tags", Tags::parse(new.tags)).unwrap_or_default();
    let own = Grant { role: user.role, tags: user.tags.clone() };
    let bounds = Bounds { key: None, user: &own, whose: "the user's own" };
    let grant = bounds.grant(&mut problems, new.role, tags);
    problems.finish()?;
    Ok((grant, comment))
}
