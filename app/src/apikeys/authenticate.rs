//! From a key to who holds it. Looked up on every request, so that a change of
//! role or a revoked key counts at once.

use super::last_used::note_use;
use crate::{App, Caller, Error, InstanceAccess, Result, Source};
use model::Secret;
use store::{apikeys, instances, users};

/// The holder of a customer key.
pub async fn authenticate(source: Source, app: &App, key: &Secret) -> Result<Caller> {
    let mut reader = app.store().reader();
    let key = apikeys::find(&mut reader, key).await?.ok_or(Error::NOT_AUTHORIZED)?;
    let user = users::find(&mut reader, key.user_id).await?.ok_or(Error::NOT_AUTHORIZED)?;
    note_use(app, &key);
    Ok(Caller::new(key, user, source))
}

/// The instance whose own key this is.
pub async fn authenticate_instance(
    source: Source,
    app: &App,
    key: &Secret,
) -> Result<InstanceAccess> {
    let found = instances::find_by_apikey(&mut app.store().reader(), key).await?;
    let instance = found.ok_or(Error::NOT_AUTHORIZED)?;
    Ok(InstanceAccess::of_owner(instance, source))
}
