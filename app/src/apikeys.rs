//! From a key to who holds it. Looked up on every request, so that a change of
//! role or a revoked key counts at once.

use crate::{App, Caller, Error, Grant, InstanceAccess, Result, Source};
use model::Secret;
use store::{accounts, apikeys, instances};

/// The holder of a customer key.
pub async fn authenticate(source: Source, app: &App, key: &Secret) -> Result<Caller> {
    let mut reader = app.store().reader();
    let key = apikeys::find(&mut reader, key).await?.ok_or(Error::NOT_AUTHORIZED)?;
    let user = accounts::find_user(&mut reader, key.user_id).await?.ok_or(Error::NOT_AUTHORIZED)?;
    Ok(Caller {
        account_id: user.account_id,
        user_id: user.id,
        email: user.email,
        key: Grant { role: key.role, tags: key.tags },
        user: Grant { role: user.role, tags: user.tags },
        source,
    })
}

/// The instance whose own key this is.
pub async fn authenticate_instance(app: &App, key: &Secret) -> Result<InstanceAccess> {
    let found = instances::find_by_apikey(&mut app.store().reader(), key).await?;
    found.map(InstanceAccess::of_owner).ok_or(Error::NOT_AUTHORIZED)
}
