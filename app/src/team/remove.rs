//! Taking somebody out of the team, or an invitation back.

use super::{grants, invite};
use crate::{App, Asked, Caller, Error, Problems, Result, Right, audit};
use model::{Timestamp, User};
use store::{Work, users};

type Extras = [(&'static str, String); 2];

/// Answers with the e-mail as it was written in the team. The user's keys stop
/// at that moment.
pub async fn remove(caller: &Caller, app: &App, asked: Asked<Option<String>>) -> Result<String> {
    caller.may(Right::ManageTeam)?;
    let (email, problems) = asked.open()?;
    let email = required(email, problems)?;
    let mut work = app.store().begin().await?;
    caller.confirm(&mut work, Right::ManageTeam).await?;
    let (email, extras) = match users::find_by_email(&mut work, caller.account_id, &email).await? {
        Some(user) => remove_member(&mut work, user).await?,
        None => cancel(&mut work, caller, &email, app.now()).await?,
    };
    audit::write(&mut work, caller, app.now(), "team.remove", &extras).await?;
    work.commit().await?;
    Ok(email)
}

fn required(email: Option<String>, mut problems: Problems) -> Result<String> {
    let email = problems.required("email", email);
    problems.finish()?;
    email.ok_or_else(|| Error::internal("a field is missing without a problem"))
}

/// Takes an invitation back. One that has expired is as good as none.
async fn cancel(
    work: &mut Work,
    caller: &Caller,
    email: &str,
    now: Timestamp,
) -> Result<(String, Extras)> {
    let invitation = invite::withdraw(work, caller.account_id, email).await?;
    let pending = invitation.filter(|invitation| invitation.expires_at > now);
    let email = pending.ok_or(Error::NotFound)?.email;
    let extras = [("email", email.clone()), ("invitation", "cancelled".into())];
    Ok((email, extras))
}

/// Removes a member with their keys; their e-mail, and what the audit log says
/// of it.
pub(super) async fn remove_member(work: &mut Work, user: User) -> Result<(String, Extras)> {
    grants::spare(work, &user).await?;
    let keys = users::remove(work, user.id).await?;
    let extras = [("email", user.email.clone()), ("keys", keys.to_string())];
    Ok((user.email, extras))
}
