//! A person's own password.

use super::sessions::{begin, end_all_of};
use super::{NewSession, SignedIn, Visit, attempts};
use crate::{App, Asked, Error, Problems, Result, Right, audit, passwords};
use model::{Secret, SignedDuration};
use store::users;

/// Whoever came by a link has so long to choose a new password without the old one.
const AFTER_LINK: SignedDuration = SignedDuration::from_hours(1);

/// What was typed.
#[derive(Clone, Debug, Default)]
pub struct PasswordChange {
    /// Not asked of somebody who has none, or has just come by a link.
    pub current: Option<Secret>,
    pub new: Option<Secret>,
}

/// Whether the current password is to be typed for a change.
pub async fn has_password(signed_in: &SignedIn, app: &App) -> Result<bool> {
    let user = signed_in.user.id;
    let hash = users::find_password_hash(&mut app.store().reader(), user).await?;
    Ok(hash.is_some() && !has_just_come_by_link(signed_in, app))
}

/// Changes the password and ends every session of its user. In the place of the one that they
/// came with there is a new one.
pub async fn change_password(
    signed_in: &SignedIn,
    visit: &Visit,
    app: &App,
    asked: Asked<PasswordChange>,
) -> Result<NewSession> {
    let (change, mut problems) = asked.open()?;
    let user = &signed_in.user;
    let old = users::find_password_hash(&mut app.store().reader(), user.id).await?;
    let to_compare = old.as_ref().filter(|_| !has_just_come_by_link(signed_in, app));
    let new = problems.required("password", change.new);
    if let Some(new) = &new {
        problems.take("password", passwords::check(new, &user.email));
    }
    if to_compare.is_some() {
        problems.required("current_password", change.current.as_ref());
    }
    problems.finish()?;
    let new = new.ok_or_else(|| Error::internal("a field is missing without a problem"))?;
    if let (Some(hash), Some(current)) = (to_compare, &change.current) {
        attempts::count_password(app, user).await?;
        if !passwords::verify(current, hash).await? {
            let mut problems = Problems::default();
            problems.add("current_password", "is wrong");
            problems.finish()?;
        }
    }
    let hash = passwords::hash(app, &new).await?;

    let mut work = app.store().begin().await?;
    signed_in.caller.confirm(&mut work, Right::UseOwnAccess).await?;
    if users::find_password_hash(&mut work, user.id).await? != old {
        return Err(Error::Refused("The password was changed meanwhile; try again".into()));
    }
    users::set_password_hash(&mut work, user.id, &hash).await?;
    end_all_of(&mut work, app, user, &signed_in.caller, "password changed").await?;
    let session = begin(&mut work, app, visit, user, false).await?;
    let extras = [("email", user.email.clone()), ("password", "changed".to_owned())];
    audit::write(&mut work, &signed_in.caller, app.now(), "team.update", &extras).await?;
    work.commit().await?;
    Ok(session)
}

fn has_just_come_by_link(signed_in: &SignedIn, app: &App) -> bool {
    let session = &signed_in.session;
    session.by_link && app.now().duration_since(session.started_at) < AFTER_LINK
}
