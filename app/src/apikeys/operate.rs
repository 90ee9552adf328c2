//! What the operator does with customer keys.

use super::{Grounds, insert_key};
use crate::rights::{is_within, narrowed_by_tags};
use crate::{App, Error, Grant, Operator, Problems, Result, audit, limits};
use model::{AccountId, ApiKey, KeyComment, KeyId, Role, Secret, Tags, User, UserId};
use store::{apikeys, users};

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
    limits::check_key(&mut work, app, user.account_id).await?;
    let grounds = Grounds {
        user_id,
        grant,
        comment: comment.as_str(),
        event: "apikey.create",
        by: operator.acting_on(user.account_id),
    };
    let key = insert_key(&mut work, app, grounds, &secret).await?;
    work.commit().await?;
    Ok((key, secret))
}

/// The keys of everybody in an account, oldest first.
pub async fn list(_: Operator, app: &App, account: AccountId) -> Result<Vec<KeyOf>> {
    let mut reader = app.store().reader();
    let team = users::list(&mut reader, account).await?;
    let keys = apikeys::list_account(&mut reader, account).await?;
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
    let role = new.role.unwrap_or(user.role);
    if !is_within(role, user.role) {
        problems.add("role", format!("{role} is more than the user's own, {}", user.role));
    }
    let tags = problems.take("tags", Tags::parse(new.tags)).unwrap_or_default();
    if !tags.is_empty() && !narrowed_by_tags(role) {
        problems.add("tags", "are only for the roles member and monitor");
    }
    let own = &user.tags;
    let foreign = tags.as_slice().iter().find(|tag| !own.as_slice().contains(tag));
    if let Some(tag) = foreign.filter(|_| !own.is_empty()) {
        problems.add("tags", format!("{tag} is none of the user's own"));
    }
    problems.finish()?;
    Ok((Grant { role, tags }, comment))
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::AccountId;

    fn user(role: Role, tags: &[&str]) -> User {
        User {
            id: UserId("00000000-0000-0000-0000-000000000002".parse().unwrap()),
            account_id: AccountId("00000000-0000-0000-0000-000000000001".parse().unwrap()),
            email: "a@example.test".into(),
            name: String::new(),
            tfa_enabled: false,
            role,
            tags: Tags::parse(tags.iter().map(ToString::to_string).collect()).unwrap(),
            created_at: "2026-11-15T12:00:00Z".parse().unwrap(),
        }
    }

    #[test]
    fn a_key_is_never_made_with_more_than_its_users_rights() {
        let check = |user: &User, role: Option<Role>, tags: &[&str], allowed: bool| {
            let tags = tags.iter().map(ToString::to_string).collect();
            let new = NewKey { role, tags, comment: String::new() };
            assert_eq!(check(user, new).is_ok(), allowed, "{user:?} {role:?}");
        };
        check(&user(Role::Admin, &[]), None, &[], true);
        check(&user(Role::Admin, &[]), Some(Role::Monitor), &["x"], true);
        check(&user(Role::Admin, &[]), Some(Role::Devops), &["x"], false);
        check(&user(Role::Member, &[]), Some(Role::Devops), &[], false);
        check(&user(Role::Member, &["a", "b"]), None, &["b"], true);
        check(&user(Role::Member, &["a", "b"]), None, &["c"], false);
        check(&user(Role::Monitor, &[]), Some(Role::Member), &[], false);
        check(&user(Role::BillingManager, &[]), Some(Role::Monitor), &[], false);
    }
}
