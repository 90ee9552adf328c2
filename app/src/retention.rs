//! What keeps the store within its bounds. Takes no caller: it is a task, which may run at
//! any time, and on several control planes at once.

use crate::{App, Result, auditlog, people};

/// Writes the summaries of the audit log that are due, and forgets what is too old.
pub async fn tidy(app: &App) -> Result<()> {
    auditlog::summarise_due(app).await?;
    people::sweep(app).await?;
    let mut work = app.store().begin().await?;
    store::retention::forget(&mut work, app.now()).await?;
    Ok(work.commit().await?)
}
