//! What the operator does with users.

use super::{Removed, grants, invite, remove_member};
use crate::{App, Error, Grant, Operator, Problems, Result, audit, limits, passwords, people};
use model::{AccountId, Email, PersonName, Role, Secret, Tags, User, UserId};
use store::{accounts, users};

/// A user as the operator makes one.
#[derive(Clone, Debug, Default)]
pub struct NewUser {
    pub email: String,
    pub name: Option<String>,
    /// Member if absent.
    pub role: Option<String>,
    pub tags: Option<Vec<String>>,
    /// Without one, the user works with keys alone.
    pub password: Option<Secret>,
}

/// What to change of a user.
#[derive(Clone, Debug, Default)]
pub struct UserChanges {
    pub name: Option<String>,
    pub role: Option<String>,
    pub tags: Option<Vec<String>>,
    /// Ends their sessions.
    pub password: Option<Secret>,
    /// Turns their second factor off, for somebody who has lost it and the recovery codes.
    pub no_second_factor: bool,
}

/// Makes a user, and takes back an invitation of theirs.
pub async fn create_user(
    operator: Operator,
    app: &App,
    account: AccountId,
    new: NewUser,
) -> Result<User> {
    let mut problems = Problems::default();
    let email = problems.take("email", Email::parse(new.email.clone()));
    let nothing = Grant { role: Role::Member, tags: Tags::default() };
    let grant = grants::read(&mut problems, new.role.as_deref(), new.tags, &nothing);
    let name = new.name.and_then(|name| problems.take("name", PersonName::parse(&name)));
    let hash = hashed(app, new.password.as_ref(), &new.email, problems).await?;
    let email = email.ok_or_else(|| Error::internal("no e-mail without a problem"))?;

    let now = app.now();
    let mut work = app.store().begin().await?;
    accounts::find(&mut work, account).await?.ok_or(Error::NotFound)?;
    if users::find_by_email(&mut work, account, email.as_str()).await?.is_some() {
        return Err(Error::Refused(format!("{email} is in the team already")));
    }
    invite::withdraw(&mut work, account, email.as_str()).await?;
    limits::check_user(&mut work, app, account).await?;
    let user = User {
        id: UserId(app.entropy().uuid()),
        account_id: account,
        email: email.into(),
        name: name.map_or_else(String::new, |name| name.as_str().into()),
        tfa_enabled: false,
        role: grant.role,
        tags: grant.tags.clone(),
        created_at: now,
    };
    users::insert(&mut work, &user).await?;
    if let Some(hash) = hash {
        users::set_password_hash(&mut work, user.id, &hash).await?;
    }
    let extras = grants::extras(&user.email, &grant);
    audit::write(&mut work, operator.acting_on(account), now, "team.join", &extras).await?;
    work.commit().await?;
    Ok(user)
}

/// Everybody in an account, by e-mail.
pub async fn list_users(_: Operator, app: &App, account: AccountId) -> Result<Vec<User>> {
    Ok(users::list(&mut app.store().reader(), account).await?)
}

/// The users that a text names: an id, or an e-mail, which may be in several
/// accounts.
pub async fn find_user(_: Operator, app: &App, text: &str) -> Result<Vec<User>> {
    let mut reader = app.store().reader();
    match text.parse::<UserId>() {
        Ok(id) => Ok(users::find(&mut reader, id).await?.into_iter().collect()),
        Err(_) => Ok(users::find_everywhere(&mut reader, text).await?),
    }
}

pub async fn update_user(
    operator: Operator,
    app: &App,
    id: UserId,
    changes: UserChanges,
) -> Result<()> {
    let user = users::find(&mut app.store().reader(), id).await?.ok_or(Error::NotFound)?;
    let mut problems = Problems::default();
    let name = changes.name.and_then(|name| problems.take("name", PersonName::parse(&name)));
    let hash = hashed(app, changes.password.as_ref(), &user.email, problems).await?;

    let mut work = app.store().begin().await?;
    let user = users::find(&mut work, id).await?.ok_or(Error::NotFound)?;
    let mut problems = Problems::default();
    let present = Grant { role: user.role, tags: user.tags.clone() };
    let grant = grants::read(&mut problems, changes.role.as_deref(), changes.tags, &present);
    problems.finish()?;
    grants::set(&mut work, &user, &grant).await?;
    let mut extras = grants::extras(&user.email, &grant).to_vec();
    if let Some(name) = name {
        users::set_name(&mut work, id, name.as_str()).await?;
        extras.push(("name", name.as_str().into()));
    }
    if let Some(hash) = hash {
        users::set_password_hash(&mut work, id, &hash).await?;
        extras.push(("password", "changed".into()));
        let actor = operator.acting_on(user.account_id);
        people::end_all_of(&mut work, app, &user, actor, "password changed").await?;
    }
    let now = app.now();
    if changes.no_second_factor && user.tfa_enabled {
        people::turn_off(&mut work, user.id).await?;
        let actor = operator.acting_on(user.account_id);
        let whose = [("email", user.email.clone())];
        audit::write(&mut work, actor, now, "tfa.disable", &whose).await?;
    }
    let actor = operator.acting_on(user.account_id);
    audit::write(&mut work, actor, now, "team.update", &extras).await?;
    Ok(work.commit().await?)
}

/// Removes a user with their keys; the last admin stays.
pub async fn remove_user(operator: Operator, app: &App, id: UserId) -> Result<Removed> {
    let mut work = app.store().begin().await?;
    let user = users::find(&mut work, id).await?.ok_or(Error::NotFound)?;
    let actor = operator.acting_on(user.account_id);
    let (removed, extras) = remove_member(&mut work, user).await?;
    audit::write(&mut work, actor, app.now(), "team.remove", &extras).await?;
    work.commit().await?;
    Ok(removed)
}

/// The hash of a password that passes, after all other problems are told.
async fn hashed(
    app: &App,
    password: Option<&Secret>,
    email: &str,
    mut problems: Problems,
) -> Result<Option<Secret>> {
    if let Some(password) = password {
        problems.take("password", passwords::check(password, email));
    }
    problems.finish()?;
    match password {
        Some(password) => Ok(Some(passwords::hash(app, password).await?)),
        None => Ok(None),
    }
}
