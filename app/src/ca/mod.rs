//! The authority that clients verify their brokers with.

use crate::{App, Error, InstanceAccess, Result};
use store::{AuthorityKind, authorities};

/// The certificate of the customers' listeners' authority, as PEM. It is
/// written together with the instance and goes with it.
pub async fn certificate(access: &InstanceAccess, app: &App) -> Result<String> {
    let mut reader = app.store().reader();
    authorities::certificate(&mut reader, access.instance.id, AuthorityKind::Server)
        .await?
        .ok_or(Error::InvalidId)
}
