//! What follows the password or the link: the second factor, or which account is meant.

use super::sessions::{Entry, open};
use super::sign_in::note_failed;
use super::{NewSession, Visit, attempts, second_factor};
use crate::{App, Asked, Error, Result};
use model::{LoginPurpose, LoginToken, Secret, User};
use store::{Run, login_tokens, users};

const OVER: Error = Error::NotAuthorized("This took too long; sign in again");

/// Signs in whoever has the token of a [`super::NextStep`], with a code if one is needed: of
/// six digits, or a recovery code. A wrong code leaves the token as it is.
pub async fn go_on(
    visit: &Visit,
    app: &App,
    token: &Secret,
    code: Asked<Option<String>>,
) -> Result<NewSession> {
    let (code, mut problems) = code.open()?;
    let (_, user) = find(&mut app.store().reader(), app, token).await?;
    if user.tfa_enabled {
        problems.required("code", code.as_ref());
    }
    problems.finish()?;
    if user.tfa_enabled {
        attempts::count_code(app, &user).await?;
    }

    let mut work = app.store().begin().await?;
    let (step, user) = find(&mut work, app, token).await?;
    let mut factor = None;
    if user.tfa_enabled {
        let typed = code.as_deref().unwrap_or_default();
        factor = second_factor::accept(&mut work, app, &user, typed).await?;
        if factor.is_none() {
            note_failed(&mut work, app, visit, &user, "code").await?;
            work.commit().await?;
            return Err(second_factor::wrong_code());
        }
    }
    login_tokens::remove(&mut work, step.id).await?;
    let entry = Entry { by_link: step.purpose == LoginPurpose::AfterLink, factor };
    let new = open(&mut work, app, visit, &user, &entry).await?;
    work.commit().await?;
    Ok(new)
}

async fn find(run: &mut impl Run, app: &App, token: &Secret) -> Result<(LoginToken, User)> {
    let found = login_tokens::find(run, token, app.now()).await?;
    let step = found.filter(|it| it.purpose != LoginPurpose::Link).ok_or(OVER)?;
    let user = users::find(run, step.user_id).await?.ok_or(OVER)?;
    Ok((step, user))
}
