//! Certificates that were signed for an instance's clients.

use crate::{App, InstanceAccess, Result};
use model::Certificate;
use store::certificates;

/// All of them, also those that are revoked, oldest first. Those that have expired are
/// among them until one is signed a day later.
pub async fn list(access: &InstanceAccess, app: &App) -> Result<Vec<Certificate>> {
    Ok(certificates::list(&mut app.store().reader(), access.instance.id).await?)
}
