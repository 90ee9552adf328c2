//! Making accounts. The operator does this, so it takes no caller.

use crate::{App, Error, Result, Source, audit};
use model::{Account, AccountId, ApiKey, KeyId, Role, Secret, Tags, User, UserId};
use store::{AuditLine, NewAccount, accounts, apikeys};

const FIRST_KEY: &str = "made with the account";

/// An account with its first user, and that user's key. The key is readable
/// here and never again.
#[derive(Debug)]
pub struct CreatedAccount {
    pub account: Account,
    pub owner: User,
    pub apikey: Secret,
}

/// Makes an account whose owner is its first admin, with a new key.
pub async fn create(source: Source, app: &App, name: &str, email: &str) -> Result<CreatedAccount> {
    create_with_key(source, app, name, email, app.entropy().key()).await
}

/// The same with a key that the operator has kept already, so that no crash
/// can lose it.
pub async fn create_with_key(
    source: Source,
    app: &App,
    name: &str,
    email: &str,
    apikey: Secret,
) -> Result<CreatedAccount> {
    let now = app.now();
    let account = Account {
        id: AccountId(app.entropy().uuid()),
        name: name.into(),
        email: email.into(),
        created_at: now,
    };
    let owner = User {
        id: UserId(app.entropy().uuid()),
        account_id: account.id,
        email: email.into(),
        role: Role::Admin,
        tags: Tags::default(),
        created_at: now,
    };
    let key = ApiKey {
        id: KeyId(app.entropy().uuid()),
        user_id: owner.id,
        role: owner.role,
        tags: Tags::default(),
        comment: FIRST_KEY.into(),
        created_at: now,
    };

    let mut work = app.store().begin().await?;
    let new = NewAccount { account, owner };
    accounts::insert(&mut work, &new).await?;
    apikeys::insert(&mut work, &key, &apikey).await?;
    let extras = [("role", key.role.to_string()), ("comment", key.comment)];
    let line = AuditLine {
        account_id: new.account.id,
        at: now,
        event: "apikey.create".into(),
        source: source.to_string(),
        user: new.owner.email.clone(),
        extras: audit::join(&extras),
    };
    store::audit::insert(&mut work, &line).await?;
    work.commit().await?;
    Ok(CreatedAccount { account: new.account, owner: new.owner, apikey })
}

/// Gives the first account's owner one more key, for the operator who has lost
/// the one kept beside the store. False if there is no account yet.
pub async fn add_owner_key(source: Source, app: &App, apikey: &Secret) -> Result<bool> {
    let now = app.now();
    let mut work = app.store().begin().await?;
    let Some(account) = accounts::list(&mut work).await?.into_iter().next() else {
        return Ok(false);
    };
    let Some(owner) = accounts::find_owner(&mut work, account.id).await? else {
        return Err(Error::Refused(format!("Account {} has no admin", account.id)));
    };
    let key = ApiKey {
        id: KeyId(app.entropy().uuid()),
        user_id: owner.id,
        role: owner.role,
        tags: Tags::default(),
        comment: "made by castellan up".into(),
        created_at: now,
    };
    apikeys::insert(&mut work, &key, apikey).await?;
    let extras = [("role", key.role.to_string()), ("comment", key.comment)];
    let line = AuditLine {
        account_id: account.id,
        at: now,
        event: "apikey.create".into(),
        source: source.to_string(),
        user: owner.email,
        extras: audit::join(&extras),
    };
    store::audit::insert(&mut work, &line).await?;
    work.commit().await?;
    Ok(true)
}
