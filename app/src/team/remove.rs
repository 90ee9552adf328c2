//! Taking somebody out of the team, or an invitation back.

use super::{grants, invite};
use crate::rights::sees_masked;
use crate::{App, Asked, Caller, Error, Grant, Problems, Result, Right, audit};
use model::{Instance, InstanceId, Timestamp, User};
use store::{Work, instances, users};

/// Who was removed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Removed {
    /// As it was written in the team.
    pub email: String,
    /// Instances whose key and password they could read, by id and name: those are to be
    /// rotated, because a copy works on.
    pub to_rotate: Vec<(InstanceId, String)>,
}

type Extras = Vec<(&'static str, String)>;

/// The user's own keys stop at that moment.
pub async fn remove(caller: &Caller, app: &App, asked: Asked<Option<String>>) -> Result<Removed> {
    caller.may(Right::ManageTeam)?;
    let (email, problems) = asked.open()?;
    let email = required(email, problems)?;
    let mut work = app.store().begin().await?;
    caller.confirm(&mut work, Right::ManageTeam).await?;
    let (removed, extras) = match users::find_by_email(&mut work, caller.account_id, &email).await?
    {
        Some(user) => remove_member(&mut work, user).await?,
        None => cancel(&mut work, caller, &email, app.now()).await?,
    };
    audit::write(&mut work, caller, app.now(), "team.remove", &extras).await?;
    work.commit().await?;
    Ok(removed)
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
) -> Result<(Removed, Extras)> {
    let invitation = invite::withdraw(work, caller.account_id, email).await?;
    let pending = invitation.filter(|invitation| invitation.expires_at > now);
    let email = pending.ok_or(Error::NotFound)?.email;
    let extras = vec![("email", email.clone()), ("invitation", "cancelled".into())];
    Ok((Removed { email, to_rotate: Vec::new() }, extras))
}

/// Removes a member with their keys; who that was, and what the audit log says of it.
pub(super) async fn remove_member(work: &mut Work, user: User) -> Result<(Removed, Extras)> {
    grants::spare(work, &user).await?;
    let mut readable = instances::list(work, user.account_id).await?;
    readable.retain(|instance| reads_secrets(&user, instance));
    let keys = users::remove(work, user.id).await?;
    let ids: Vec<String> = readable.iter().map(|instance| instance.id.to_string()).collect();
    let extras = vec![
        ("email", user.email.clone()),
        ("keys", keys.to_string()),
        ("instances_to_rotate", ids.join(",")),
    ];
    let to_rotate = readable.into_iter().map(|it| (it.id, it.name.to_string())).collect();
    Ok((Removed { email: user.email, to_rotate }, extras))
}

/// Whether the user's role and tags let them read the instance's key and password.
fn reads_secrets(user: &User, instance: &Instance) -> bool {
    let grant = Grant { role: user.role, tags: user.tags.clone() };
    Right::SeeInstances.held_by(user.role) && !sees_masked(user.role) && grant.shows(&instance.tags)
}
