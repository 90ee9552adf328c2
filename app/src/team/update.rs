//! Changing what a member of the team may do.

use super::grants;
use crate::{App, Asked, Caller, Error, Grant, Result, Right, audit};
use model::UserId;
use store::users;

/// What to change, as sent; at least one.
#[derive(Clone, Debug, Default)]
pub struct RoleChanges {
    pub role: Option<String>,
    /// An empty list means no tags.
    pub tags: Option<Vec<String>>,
}

/// `None` stands for a path segment that is no id. It counts from the member's
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
