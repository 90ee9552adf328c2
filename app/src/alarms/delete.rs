//! An alarm that nobody wants any more. The default ones may go as well.

use super::about;
use crate::{App, Error, InstanceAccess, Result, audit};
use model::AlarmId;
use store::{alarms, incidents};
use watch::alarms::stop_watching;

/// `None` stands for a path segment that is no id.
pub async fn delete(access: &InstanceAccess, app: &App, alarm: Option<AlarmId>) -> Result<()> {
    access.may_change()?;
    let (id, alarm) = (access.instance.id, alarm.ok_or(Error::NotFound)?);
    let mut work = app.store().begin().await?;
    let found = alarms::find(&mut work, id, alarm).await?.ok_or(Error::NotFound)?;
    stop_watching(&mut work, app.watch(), &access.instance, &found, "was deleted").await?;
    incidents::remove_alarm(&mut work, id, alarm).await?;
    alarms::delete(&mut work, id, alarm).await?;
    let asker = access.asker(&mut work).await?;
    let extras = about(&access.instance, &found);
    audit::write(&mut work, &asker, app.now(), "alarm.delete", &extras).await?;
    Ok(work.commit().await?)
}
