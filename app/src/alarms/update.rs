//! Changing an alarm.

use super::about;
use super::validate::{AlarmFields, validate};
use crate::{App, Asked, Error, InstanceAccess, Result, audit};
use model::{Alarm, AlarmId};
use store::{alarms, recipients};
use watch::alarms::{enqueue_for_change, stop_watching, stop_watching_others};

/// `None` stands for a path segment that is no id.
pub async fn update(
    access: &InstanceAccess,
    app: &App,
    alarm: Option<AlarmId>,
    wanted: Asked<AlarmFields>,
) -> Result<Alarm> {
    access.may_change()?;
    let (id, alarm) = (access.instance.id, alarm.ok_or(Error::NotFound)?);
    let mut work = app.store().begin().await?;
    let before = alarms::find(&mut work, id, alarm).await?.ok_or(Error::NotFound)?;
    let (fields, problems) = wanted.open()?;
    let known = recipients::list(&mut work, id).await?;
    let what = validate(fields, problems, Some(&before.what), &known)?;
    if what == before.what {
        return Ok(before);
    }
    let after = alarms::update(&mut work, id, alarm, what).await?.ok_or(Error::NotFound)?;
    if before.what.enabled && !after.what.enabled {
        stop_watching(&mut work, app.watch(), &access.instance, &before, "was switched off")
            .await?;
    } else {
        if let Some(group) = &after.what.group {
            stop_watching_others(&mut work, app.watch(), &access.instance, &before, group).await?;
        }
        enqueue_for_change(&mut work, app.watch(), &access.instance, &before.what, &after).await?;
    }
    let asker = access.asker(&mut work).await?;
    let extras = about(&access.instance, &after);
    audit::write(&mut work, &asker, app.now(), "alarm.update", &extras).await?;
    work.commit().await?;
    Ok(after)
}
