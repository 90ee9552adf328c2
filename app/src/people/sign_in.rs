//! Signing in by e-mail and password.
//!
//! Whatever is wrong, the answer is the same, and it takes as long: as many hashes are made
//! for an e-mail that nobody has as for one that has a user in up to two accounts.

use super::sessions::{Entry, open};
use super::{NewSession, Visit, attempts};
use crate::audit::{self, Actor};
use crate::{App, Asked, Error, Result, passwords};
use model::{
    Email, LoginPurpose, LoginToken, LoginTokenId, Secret, SignedDuration, Timestamp, User, UserId,
};
use store::{Work, accounts, login_tokens, users};
use tokio::sync::Semaphore;

/// What was typed.
#[derive(Clone, Debug, Default)]
pub struct Credentials {
    pub email: Option<String>,
    pub password: Option<Secret>,
}

/// What comes of it.
#[derive(Debug)]
pub enum SignIn {
    Done(NewSession),
    /// One of these is to be gone on with: where a code is needed, and where the same e-mail
    /// and password are good in several accounts.
    Next(Vec<NextStep>),
}

/// How a sign-in goes on, by [`super::go_on`].
#[derive(Clone, Debug)]
pub struct NextStep {
    /// The account's name.
    pub team: String,
    pub needs_code: bool,
    /// Readable here and never again.
    pub token: Secret,
    pub expires_at: Timestamp,
}

const WRONG: Error = Error::NotAuthorized("E-mail or password is wrong");
/// Hashes that are made at least.
const HASHES: usize = 2;
/// How long there is for the next step.
const STEP: SignedDuration = SignedDuration::from_mins(10);
/// So many wait for their hash; others are told to come again.
const MOST_WAITING: usize = 32;
static WAITING: Semaphore = Semaphore::const_new(MOST_WAITING);

pub async fn sign_in(visit: &Visit, app: &App, asked: Asked<Credentials>) -> Result<SignIn> {
    let (credentials, mut problems) = asked.open()?;
    let email = problems.required("email", credentials.email);
    let password = problems.required("password", credentials.password);
    problems.finish()?;
    let (Some(email), Some(password)) = (email, password) else {
        return Err(Error::internal("a field is missing without a problem"));
    };
    attempts::count_sign_in(app, visit, &email).await?;
    let Ok(_turn) = WAITING.try_acquire() else { return Err(Error::TooMany { retry_after: 5 }) };
    let everybody = everybody_with(app, &email).await?;
    let right = verify(app, &everybody, &password).await?;

    let mut work = app.store().begin().await?;
    let mut known = Vec::new();
    for (id, hash) in right {
        // Since then the password may have been changed, and the user removed.
        if users::find_password_hash(&mut work, id).await?.as_ref() == Some(&hash) {
            known.extend(users::find(&mut work, id).await?);
        }
    }
    if known.is_empty() {
        fail(&mut work, app, visit, &everybody).await?;
        work.commit().await?;
        return Err(WRONG);
    }
    let signed_in = enter(&mut work, app, visit, &known, LoginPurpose::AfterPassword).await?;
    work.commit().await?;
    Ok(signed_in)
}

/// A text that is no address is nobody's.
async fn everybody_with(app: &App, email: &str) -> Result<Vec<User>> {
    if Email::parse(email).is_err() {
        return Ok(Vec::new());
    }
    Ok(users::find_everywhere(&mut app.store().reader(), email).await?)
}

/// Those of them whose password it is, with the hash that it was compared with.
async fn verify(app: &App, all: &[User], password: &Secret) -> Result<Vec<(UserId, Secret)>> {
    let (mut right, mut made) = (Vec::new(), 0);
    for user in all {
        let hash = users::find_password_hash(&mut app.store().reader(), user.id).await?;
        let Some(hash) = hash else { continue };
        made += 1;
        if passwords::verify(password, &hash).await? {
            right.push((user.id, hash));
        }
    }
    for _ in made..HASHES {
        passwords::hash(app, password).await?;
    }
    Ok(right)
}

/// The audit log of every account that has a user with this e-mail tells of it.
async fn fail(work: &mut Work, app: &App, visit: &Visit, all: &[User]) -> Result<()> {
    attempts::note_failure(work, app, visit).await?;
    for user in all {
        note_failed(work, app, visit, user, "password").await?;
    }
    Ok(())
}

/// The line of somebody who was not let in.
pub(super) async fn note_failed(
    work: &mut Work,
    app: &App,
    visit: &Visit,
    user: &User,
    wrong: &str,
) -> Result<()> {
    let actor =
        Actor { account_id: user.account_id, source: visit.source, user: user.email.as_str() };
    let extras = [("wrong", wrong.to_owned()), ("browser", visit.browser.clone())];
    audit::write(work, actor, app.now(), "login.failed", &extras).await
}

/// Lets in whoever these users are, if that is one and no code is needed.
pub(super) async fn enter(
    work: &mut Work,
    app: &App,
    visit: &Visit,
    known: &[User],
    purpose: LoginPurpose,
) -> Result<SignIn> {
    if let [user] = known
        && !user.tfa_enabled
    {
        let entry = Entry { by_link: purpose == LoginPurpose::AfterLink, factor: None };
        return Ok(SignIn::Done(open(work, app, visit, user, &entry).await?));
    }
    let now = app.now();
    let mut steps = Vec::new();
    for user in known {
        let token = app.entropy().key();
        let new = LoginToken {
            id: LoginTokenId(app.entropy().uuid()),
            user_id: user.id,
            purpose,
            created_at: now,
            expires_at: now + STEP,
        };
        login_tokens::insert(work, &new, &token).await?;
        let account = accounts::find(work, user.account_id).await?;
        let team = account.ok_or(Error::NOT_AUTHORIZED)?.name;
        let (needs_code, expires_at) = (user.tfa_enabled, new.expires_at);
        steps.push(NextStep { team, needs_code, token, expires_at });
    }
    Ok(SignIn::Next(steps))
}
