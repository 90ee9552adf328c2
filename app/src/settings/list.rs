//! What was chosen.

use crate::access::{on_servers_of_its_own, ready};
use crate::{App, InstanceAccess, Result};
use std::collections::BTreeMap;

/// By name: those alone that a customer set, at the value that was asked for.
pub async fn list(access: &InstanceAccess, app: &App) -> Result<BTreeMap<String, String>> {
    on_servers_of_its_own(app, &access.instance)?;
    ready(&access.instance)?;
    Ok(access.instance.settings.clone())
}
