//! Replacing the key in use.

use super::{Grounds, insert_key};
use crate::{App, Caller, Error, Result, Right};
use model::Secret;
use store::apikeys;

/// A new key with the role, tags and comment of the one that the caller came
/// with, which stops at that moment. Of several at once one wins; the others
/// came with a key that is gone.
pub async fn rotate(caller: &Caller, app: &App) -> Result<Secret> {
    let secret = app.entropy().key();
    let mut work = app.store().begin().await?;
    caller.confirm(&mut work, Right::UseCatalogue).await?;
    let old = apikeys::find_by_id(&mut work, caller.key_id).await?.ok_or(Error::NOT_AUTHORIZED)?;
    apikeys::remove(&mut work, old.id).await?;
    let grounds = Grounds {
        user_id: caller.user_id,
        grant: caller.key.clone(),
        comment: &old.comment,
        event: "apikey.rotate",
        by: caller.into(),
    };
    insert_key(&mut work, app, grounds, &secret).await?;
    work.commit().await?;
    Ok(secret)
}
