//! Accounts. The operator makes and lists them, which takes no caller; what an account says of
//! itself is its own people's.

mod own;

pub use own::{AccountChanges, AccountDetails, read, update};

use crate::apikeys::{Grounds, insert_key};
use crate::audit::{Actor, OPERATOR};
use crate::{App, Error, Grant, Operator, Result, Source};
use model::{Account, AccountId, Role, Secret, Tags, User, UserId};
use store::{NewAccount, accounts, users};

const FIRST_KEY: &str = "made with the account";
const KEY_OF_UP: &str = "made by castellan up";

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
        name: String::new(),
        tfa_enabled: false,
        role: Role::Admin,
        tags: Tags::default(),
        created_at: now,
    };

    let mut work = app.store().begin().await?;
    let new = NewAccount { account, owner };
    accounts::insert(&mut work, &new).await?;
    insert_key(&mut work, app, first_key(source, &new.owner, FIRST_KEY), &apikey).await?;
    work.commit().await?;
    Ok(CreatedAccount { account: new.account, owner: new.owner, apikey })
}

/// All accounts, oldest first.
pub async fn list(_: Operator, app: &App) -> Result<Vec<Account>> {
    Ok(accounts::list(&mut app.store().reader()).await?)
}

/// Gives the first account's owner one more key, for the operator whose own,
/// kept beside the store, is lost or dead. The secret must be a new one: an old
/// one would come back to life.
pub async fn add_owner_key(source: Source, app: &App, apikey: &Secret) -> Result<()> {
    let mut work = app.store().begin().await?;
    let Some(account) = accounts::list(&mut work).await?.into_iter().next() else {
        return Err(Error::Refused("There is no account yet".into()));
    };
    let Some(owner) = users::find_owner(&mut work, account.id).await? else {
        return Err(Error::Refused(format!("Account {} has no admin", account.id)));
    };
    insert_key(&mut work, app, first_key(source, &owner, KEY_OF_UP), apikey).await?;
    work.commit().await?;
    Ok(())
}

/// A key with everything its owner may do. Who makes it is the operator.
fn first_key<'a>(source: Source, owner: &User, comment: &'a str) -> Grounds<'a> {
    Grounds {
        user_id: owner.id,
        grant: Grant { role: owner.role, tags: Tags::default() },
        comment,
        expires_at: None,
        event: "apikey.create",
        by: Actor { account_id: owner.account_id, source, user: OPERATOR },
    }
}
