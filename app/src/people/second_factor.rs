//! The second factor: codes that an app makes, and recovery codes for those who have lost it.
//!
//! Every code is good once. What codes are made from is shown once, and counts after the app
//! has shown that it has it.

use super::codes::{self, Code};
use super::{SignedIn, attempts};
use crate::{App, Asked, Error, Result, Right, audit};
use model::{Secret, User, UserId};
use store::{Work, second_factors, users};

/// What an app needs. Readable here and never again.
#[derive(Clone, Debug)]
pub struct Enrolment {
    /// In base32, for those who type it.
    pub secret: Secret,
    /// For a QR code.
    pub uri: Secret,
}

/// What somebody came in with beside the password.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Factor {
    Totp,
    RecoveryCode,
}

impl Factor {
    pub const fn as_str(self) -> &'static str {
        match self {
            Factor::Totp => "code",
            Factor::RecoveryCode => "recovery code",
        }
    }
}

pub(super) fn wrong_code() -> Error {
    Error::field("code", "is wrong, too old, or was used before; wait for the next one")
}

/// Makes what codes are made from. It takes the place of one that was begun before, and
/// counts for nothing until [`enable_second_factor`].
pub async fn begin_second_factor(signed_in: &SignedIn, app: &App) -> Result<Enrolment> {
    let secret = codes::new_seed(app);
    let mut work = app.store().begin().await?;
    let user = confirmed(signed_in, &mut work).await?;
    if user.tfa_enabled {
        return Err(Error::Refused("Two factors are on already; turn them off first".into()));
    }
    second_factors::set(&mut work, user.id, &secret).await?;
    work.commit().await?;
    Ok(Enrolment { uri: codes::uri(&secret, &user.email)?, secret })
}

/// Turns the second factor on with a first code. The recovery codes are readable here and
/// never again.
pub async fn enable_second_factor(
    signed_in: &SignedIn,
    app: &App,
    code: Asked<Option<String>>,
) -> Result<Vec<Secret>> {
    let code = typed(signed_in, app, code).await?;
    let mut work = app.store().begin().await?;
    let user = confirmed(signed_in, &mut work).await?;
    if user.tfa_enabled {
        return Err(Error::Refused("Two factors are on already".into()));
    }
    if second_factors::find(&mut work, user.id).await?.is_none() {
        return Err(Error::Refused("Begin with a new secret for your app".into()));
    }
    if accept(&mut work, app, &user, &code).await? != Some(Factor::Totp) {
        return Err(wrong_code());
    }
    users::set_tfa_enabled(&mut work, user.id, true).await?;
    let recovery = replace_recovery_codes(&mut work, app, user.id).await?;
    let extras = [("email", user.email)];
    audit::write(&mut work, &signed_in.caller, app.now(), "tfa.enable", &extras).await?;
    work.commit().await?;
    Ok(recovery)
}

/// Turns it off, with a code of the app or a recovery code.
pub async fn disable_second_factor(
    signed_in: &SignedIn,
    app: &App,
    code: Asked<Option<String>>,
) -> Result<()> {
    let (mut work, user) = proven(signed_in, app, code).await?;
    turn_off(&mut work, user.id).await?;
    let extras = [("email", user.email)];
    audit::write(&mut work, &signed_in.caller, app.now(), "tfa.disable", &extras).await?;
    Ok(work.commit().await?)
}

/// Ten new recovery codes, in the place of those that are left.
pub async fn renew_recovery_codes(
    signed_in: &SignedIn,
    app: &App,
    code: Asked<Option<String>>,
) -> Result<Vec<Secret>> {
    let (mut work, user) = proven(signed_in, app, code).await?;
    let recovery = replace_recovery_codes(&mut work, app, user.id).await?;
    let extras = [("email", user.email), ("recovery_codes", "new".to_owned())];
    audit::write(&mut work, &signed_in.caller, app.now(), "tfa.enable", &extras).await?;
    work.commit().await?;
    Ok(recovery)
}

pub async fn recovery_codes_left(signed_in: &SignedIn, app: &App) -> Result<i64> {
    let user = signed_in.user.id;
    Ok(second_factors::count_recovery_codes(&mut app.store().reader(), user).await?)
}

/// Takes a code, so that it is good no more. None if it is wrong.
pub(super) async fn accept(
    work: &mut Work,
    app: &App,
    user: &User,
    typed: &str,
) -> Result<Option<Factor>> {
    match Code::read(typed) {
        Code::Digits(code) => {
            let Some(seed) = second_factors::find(work, user.id).await? else { return Ok(None) };
            let Some(step) = codes::step_of(&seed, &code, app.now())? else { return Ok(None) };
            let taken = second_factors::take_step(work, user.id, step).await?;
            Ok(taken.then_some(Factor::Totp))
        }
        Code::Recovery(code) => {
            let taken = second_factors::take_recovery_code(work, user.id, &code).await?;
            Ok(taken.then_some(Factor::RecoveryCode))
        }
    }
}

/// Without a question; for the operator, too.
pub(crate) async fn turn_off(work: &mut Work, user: UserId) -> Result<()> {
    users::set_tfa_enabled(work, user, false).await?;
    Ok(second_factors::remove(work, user).await?)
}

/// The code that was typed, after it was counted.
async fn typed(signed_in: &SignedIn, app: &App, code: Asked<Option<String>>) -> Result<String> {
    let (code, mut problems) = code.open()?;
    let code = problems.required("code", code);
    problems.finish()?;
    attempts::count_code(app, &signed_in.user).await?;
    code.ok_or_else(|| Error::internal("a field is missing without a problem"))
}

/// A transaction for somebody who has their second factor at hand.
async fn proven(
    signed_in: &SignedIn,
    app: &App,
    code: Asked<Option<String>>,
) -> Result<(Work, User)> {
    let code = typed(signed_in, app, code).await?;
    let mut work = app.store().begin().await?;
    let user = confirmed(signed_in, &mut work).await?;
    if !user.tfa_enabled {
        return Err(Error::Refused("Two factors are not on".into()));
    }
    if accept(&mut work, app, &user, &code).await?.is_none() {
        return Err(wrong_code());
    }
    Ok((work, user))
}

/// The user as they are at this moment.
async fn confirmed(signed_in: &SignedIn, work: &mut Work) -> Result<User> {
    signed_in.caller.confirm(work, Right::UseOwnAccess).await?;
    users::find(work, signed_in.user.id).await?.ok_or(Error::NOT_AUTHORIZED)
}

async fn replace_recovery_codes(work: &mut Work, app: &App, user: UserId) -> Result<Vec<Secret>> {
    let shown = codes::new_recovery_codes(app);
    let stored: Vec<Secret> = shown
        .iter()
        .filter_map(|code| match Code::read(code.expose()) {
            Code::Recovery(code) => Some(code),
            Code::Digits(_) => None,
        })
        .collect();
    second_factors::set_recovery_codes(work, user, &stored).await?;
    Ok(shown)
}
