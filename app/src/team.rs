//! An account's team: who is in it, and how people come and go.
//!
//! A team always has an admin. Everything that decides who may do what is
//! checked in the transaction that changes it, so that of two changes at once
//! the second sees the first.

mod grants;
mod invite;
mod join;
mod mail;
mod operate;

pub use invite::{NewInvitation, invite};
pub use join::{Acceptance, Invitee, Joined, invitee, join};
pub use operate::{
    NewUser, UserChanges, create_user, find_user, list_users, remove_user, update_user,
};

use crate::rights::sees_masked;
use crate::{App, Asked, Caller, Error, Grant, Problems, Result, Right, audit};
use model::{Instance, InstanceId, Timestamp, User, UserId};
use store::{Work, instances, sessions, users};

/// By e-mail. Whoever was invited and has not come yet is not in it.
pub async fn list(caller: &Caller, app: &App) -> Result<Vec<User>> {
    caller.may(Right::ManageTeam)?;
    Ok(users::list(&mut app.store().reader(), caller.account_id).await?)
}

/// What to change, as sent; at least one.
#[derive(Clone, Debug, Default)]
pub struct RoleChanges {
    pub role: Option<String>,
    /// An empty list means no tags.
    pub tags: Option<Vec<String>>,
}

/// Changes what a member of the team may do. `None` stands for a path segment that is no id. It counts from the member's
/// next request on.
pub async fn update(
    caller: &Caller,
    app: &App,
    id: Option<UserId>,
    asked: Asked<RoleChanges>,
) -> Result<()> {
    caller.may(Right::ManageTeam)?;
    let mut work = app.store().begin().await?;
    caller.confirm(&mut work, Right::ManageTeam).await?;
    let id = id.ok_or(Error::NotFound)?;
    let found = users::find(&mut work, id).await?;
    let user = found.filter(|user| user.account_id == caller.account_id);
    let user = user.ok_or(Error::NotFound)?;

    let (changes, mut problems) = asked.open()?;
    let nothing = changes.role.is_none() && changes.tags.is_none();
    let present = Grant { role: user.role, tags: user.tags.clone() };
    let grant = grants::read(&mut problems, changes.role.as_deref(), changes.tags, &present);
    problems.finish()?;
    if nothing {
        return Err(Error::Refused("Give at least one of role and tags".into()));
    }
    if grants::set(&mut work, &user, &grant).await? {
        let extras = grants::extras(&user.email, &grant);
        audit::write(&mut work, caller, app.now(), "team.update", &extras).await?;
        work.commit().await?;
    }
    Ok(())
}

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

/// Takes somebody out of the team, or an invitation back. The user's own keys and sessions stop
/// at that moment.
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

/// Removes a member with their keys and sessions; who that was, and what the audit log says of it.
async fn remove_member(work: &mut Work, user: User) -> Result<(Removed, Extras)> {
    grants::spare(work, &user).await?;
    let mut readable = instances::list(work, user.account_id).await?;
    readable.retain(|instance| reads_secrets(&user, instance));
    let sessions = sessions::remove_all(work, user.id, None).await?;
    let keys = users::remove(work, user.id).await?;
    let ids: Vec<String> = readable.iter().map(|instance| instance.id.to_string()).collect();
    let extras = vec![
        ("email", user.email.clone()),
        ("keys", keys.to_string()),
        ("sessions", sessions.to_string()),
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
