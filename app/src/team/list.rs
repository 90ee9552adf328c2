//! Who is in the team.

use crate::{App, Caller, Result, Right};
use model::User;
use store::users;

/// By e-mail. Whoever was invited and has not come yet is not in it.
pub async fn list(caller: &Caller, app: &App) -> Result<Vec<User>> {
    caller.may(Right::ManageTeam)?;
    Ok(users::list(&mut app.store().reader(), caller.account_id).await?)
}
