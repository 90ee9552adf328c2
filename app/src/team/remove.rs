//! Taking somebody out of the team, or an invitation back.

use super::{grants, invite};
use crate::{App, Asked, Caller, Error, Problems, Result, Right, audit};
use model::User;
use store::{Work, users};

/// Answers with the e-mail as it was written in the team. The user's keys stop
/// at that moment.
pub async fn remove(caller: &Caller, app: &App, asked: Asked<Option<String>>) -> Result<String> {
    caller.may(Right::ManageTeam)?;
    let (email, problems) = asked.open()?;
    let email = required(email, problems)?;
    let mut work = app.store().begin().await?;
    caller.confirm(&mut work, Right::ManageTeam).await?;
    let email = match users::find_by_email(&mut work, caller.account_id, &email).await? {
        Some(user) => {
            let extras = remove_member(&mut work, &user).await?;
            audit::write(&mut work, caller, app.now(), "team.remove", &extras).await?;
            user.email
        }
        None => {
            let invitation = invite::withdraw(&mut work, caller.account_id, &email).await?;
            // One that has expired is as good as none.
            let pending = invitation.filter(|invitation| invitation.expires_at > app.now());
            let email = pending.ok_or(Error::NotFound)?.email;
            let extras = [("email", email.clone()), ("invitation", "cancelled".into())];
            audit::write(&mut work, caller, app.now(), "team.remove", &extras).await?;
            email
        }
    };
    work.commit().await?;
    Ok(email)
}

fn required(email: Option<String>, mut problems: Problems) -> Result<String> {
    let email = problems.required("email", email);
    problems.finish()?;
    email.ok_or_else(|| Error::internal("a field is missing without a problem"))
}

/// Removes a member with their keys; what the audit log says of it.
pub(super) async fn remove_member(
    work: &mut Work,
    user: &User,
) -> Result<[(&'static str, String); 2]> {
    grants::spare(work, user).await?;
    let keys = users::remove(work, user.id).await?;
    Ok([("email", user.email.clone()), ("keys", keys.to_string())])
}
