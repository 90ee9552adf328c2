//! Reading alarms.

use crate::{App, Error, InstanceAccess, Result};
use model::{Alarm, AlarmId, Incident};
use store::{alarms, incidents};

/// Older ones are not told.
const HISTORY: u32 = 100;

/// By id.
pub async fn list(access: &InstanceAccess, app: &App) -> Result<Vec<Alarm>> {
    Ok(alarms::list(&mut app.store().reader(), access.instance.id).await?)
}

/// `None` stands for a path segment that is no id.
pub async fn read(access: &InstanceAccess, app: &App, alarm: Option<AlarmId>) -> Result<Alarm> {
    let alarm = alarm.ok_or(Error::NotFound)?;
    let found = alarms::find(&mut app.store().reader(), access.instance.id, alarm).await?;
    found.ok_or(Error::NotFound)
}

/// What people were told of an alarm, the latest first.
pub async fn history(
    access: &InstanceAccess,
    app: &App,
    alarm: Option<AlarmId>,
) -> Result<(Alarm, Vec<Incident>)> {
    let alarm = read(access, app, alarm).await?;
    let mut reader = app.store().reader();
    let history = incidents::history(&mut reader, access.instance.id, alarm.id, HISTORY).await?;
    Ok((alarm, history))
}
