//! A new alarm.

use super::validate::{AlarmFields, validate};
use super::{about, fits_plan};
use crate::{App, Asked, Error, InstanceAccess, Result, audit};
use model::Alarm;
use store::{alarms, recipients};

/// Each is looked at whenever a server reports.
const MOST: usize = 100;

pub async fn create(
    access: &InstanceAccess,
    app: &App,
    wanted: Asked<AlarmFields>,
) -> Result<Alarm> {
    access.may_change()?;
    let (fields, problems) = wanted.open()?;
    let id = access.instance.id;
    let mut work = app.store().begin().await?;
    access.still_there(&mut work).await?;
    let known = recipients::list(&mut work, id).await?;
    let what = validate(fields, problems, None, &known)?;
    fits_plan(access, app, what.kind)?;
    if alarms::list(&mut work, id).await?.len() >= MOST {
        let sentence = format!("This instance has {MOST} alarms, and can't have more; delete one");
        return Err(Error::Refused(sentence));
    }
    let alarm = alarms::insert(&mut work, id, what).await?;
    let asker = access.asker(&mut work).await?;
    let extras = about(&access.instance, &alarm);
    audit::write(&mut work, &asker, app.now(), "alarm.create", &extras).await?;
    work.commit().await?;
    Ok(alarm)
}
