//! Links that sign somebody in once, without a password: for the first account's owner, and
//! for those who have forgotten theirs. The operator makes them. Where a second factor is on,
//! it is asked for all the same.

use super::sign_in::enter;
use super::{SignIn, Visit};
use crate::{App, Error, Operator, Result, audit};
use model::{
    LoginPurpose, LoginToken, LoginTokenId, Secret, SignedDuration, Timestamp, User, UserId,
};
use store::{Run, accounts, login_tokens, users};

const LIFE: SignedDuration = SignedDuration::from_hours(1);

/// A link, readable here and never again.
#[derive(Clone, Debug)]
pub struct LoginLink {
    pub email: String,
    pub url: Secret,
    pub expires_at: Timestamp,
}

/// Who a link is for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LinkOwner {
    /// The account's name.
    pub team: String,
    pub email: String,
}

/// Makes a link for a user. The one before stops working.
pub async fn create_link(operator: Operator, app: &App, user: UserId) -> Result<LoginLink> {
    let now = app.now();
    let token = app.entropy().key();
    let mut work = app.store().begin().await?;
    let user = users::find(&mut work, user).await?.ok_or(Error::NotFound)?;
    let new = LoginToken {
        id: LoginTokenId(app.entropy().uuid()),
        user_id: user.id,
        purpose: LoginPurpose::Link,
        created_at: now,
        expires_at: now + LIFE,
    };
    login_tokens::insert(&mut work, &new, &token).await?;
    let extras = [("email", user.email.clone()), ("expires_at", new.expires_at.to_string())];
    let actor = operator.acting_on(user.account_id);
    audit::write(&mut work, actor, now, "login.link", &extras).await?;
    work.commit().await?;
    let base = app.settings.public_url.trim_end_matches('/');
    let url = Secret::new(format!("{base}/login/{}", token.expose()));
    Ok(LoginLink { email: user.email, url, expires_at: new.expires_at })
}

/// The same for the first account's first admin.
pub async fn create_for_first_owner(operator: Operator, app: &App) -> Result<LoginLink> {
    let mut reader = app.store().reader();
    let Some(account) = accounts::list(&mut reader).await?.into_iter().next() else {
        return Err(Error::Refused("There is no account yet".into()));
    };
    let Some(owner) = users::find_owner(&mut reader, account.id).await? else {
        return Err(Error::Refused(format!("Account {} has no admin", account.id)));
    };
    create_link(operator, app, owner.id).await
}

/// Who a link is for. Looking at it uses nothing up: programs that read mails do that, too.
pub async fn see_link(app: &App, token: &Secret) -> Result<LinkOwner> {
    let mut reader = app.store().reader();
    let (_, user) = find(&mut reader, app, token).await?;
    let account = accounts::find(&mut reader, user.account_id).await?.ok_or(Error::NotFound)?;
    Ok(LinkOwner { team: account.name, email: user.email })
}

/// Uses a link up. One that never was, was used, was replaced or has expired is not found.
pub async fn open_link(visit: &Visit, app: &App, token: &Secret) -> Result<SignIn> {
    let mut work = app.store().begin().await?;
    let (link, user) = find(&mut work, app, token).await?;
    login_tokens::remove(&mut work, link.id).await?;
    let signed_in = enter(&mut work, app, visit, &[user], LoginPurpose::AfterLink).await?;
    work.commit().await?;
    Ok(signed_in)
}

async fn find(run: &mut impl Run, app: &App, token: &Secret) -> Result<(LoginToken, User)> {
    let found = login_tokens::find(run, token, app.now()).await?;
    let link = found.filter(|it| it.purpose == LoginPurpose::Link).ok_or(Error::NotFound)?;
    let user = users::find(run, link.user_id).await?.ok_or(Error::NotFound)?;
    Ok((link, user))
}
