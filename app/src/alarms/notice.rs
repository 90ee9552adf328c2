//! QueuedNotification customers of maintenance, by their notice alarms.

use super::watch::tell;
use crate::{App, Error, Operator, Result, audit};
use model::{Alarm, AlarmType, Incident, Instance, InstanceId, Maintenance, RegionName};
use std::collections::BTreeSet;
use store::{Run, Work, alarms, incidents, instances};

/// Whose maintenance it is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Scope {
    Instance(InstanceId),
    Region(RegionName),
    All,
}

/// The longest text; a mail has more room, a pager has less.
const LENGTH: usize = 2000;

/// The instances whose notice alarms were told. All of it is one transaction:
/// asked again after a crash, nobody has heard of it yet or everybody has. A slip of
/// the keyboard is refused, lest people seem to be told.
pub async fn notice(
    operator: Operator,
    app: &App,
    scope: &Scope,
    kind: Maintenance,
    text: &str,
) -> Result<Vec<InstanceId>> {
    let text = text.trim();
    if text.is_empty() || text.chars().count() > LENGTH {
        return Err(Error::Refused(format!("A notice has 1 to {LENGTH} characters")));
    }
    let words = match kind {
        Maintenance::Planned => "Planned maintenance",
        Maintenance::Emergency => "Emergency maintenance",
    };
    let (message, now) = (format!("{words}: {text}"), app.now());
    let mut work = app.store().begin().await?;
    is_there(&mut work, app, scope).await?;
    let mut told = Vec::new();
    let alarms = alarms::enabled_of(&mut work, AlarmType::Notice).await?;
    let ids: BTreeSet<InstanceId> = alarms.into_iter().map(|(id, _)| id).collect();
    for id in ids {
        let found = instances::find(&mut work, id).await?;
        let Some(instance) = found.filter(|it| it.deleted_at.is_none()) else { continue };
        let is_meant = match scope {
            Scope::Instance(meant) => instance.id == *meant,
            Scope::Region(meant) => instance.region == *meant,
            Scope::All => true,
        };
        if !is_meant {
            continue;
        }
        if tell_instance(&mut work, app, &instance, kind, &message).await? {
            told.push(id);
            let about = [("id", id.to_string()), ("notice", message.clone())];
            let actor = operator.acting_on(instance.account_id);
            audit::write(&mut work, actor, now, "notice.send", &about).await?;
        }
    }
    work.commit().await?;
    Ok(told)
}

async fn is_there(work: &mut Work, app: &App, scope: &Scope) -> Result<()> {
    match scope {
        Scope::Instance(id) => {
            let found = instances::find(work, *id).await?;
            if found.is_none_or(|it| it.deleted_at.is_some()) {
                return Err(Error::Refused(format!("There is no instance {id}")));
            }
        }
        Scope::Region(name) if app.catalogue.region(&name.0).is_none() => {
            let all = app.catalogue.regions().iter().map(|it| it.full_name().0);
            let all = all.collect::<Vec<_>>().join(", ");
            return Err(Error::Refused(format!("There is no region {name}; there are {all}")));
        }
        Scope::Region(_) | Scope::All => {}
    }
    Ok(())
}

/// Those of an instance that tell people.
pub(super) async fn notice_alarms(run: &mut impl Run, instance: InstanceId) -> Result<Vec<Alarm>> {
    let mut watched = alarms::list(run, instance).await?;
    watched.retain(|alarm| alarm.what.kind == AlarmType::Notice && alarm.what.enabled);
    Ok(watched)
}

/// Tells the recipients of an instance's notice alarms. Whether it has any that
/// could be told.
async fn tell_instance(
    work: &mut Work,
    app: &App,
    instance: &Instance,
    kind: Maintenance,
    message: &str,
) -> Result<bool> {
    let now = app.now();
    let mut told = false;
    for alarm in notice_alarms(work, instance.id).await? {
        // It is over with being told.
        let begun = incidents::begin(work, instance.id, alarm.id, "", now, None).await?;
        let Some(begun) = begun else { continue };
        let is = Incident {
            triggered_at: Some(now),
            resolved_at: Some(now),
            message: message.to_owned(),
            ..begun.clone()
        };
        let as_told = Incident { resolved_at: None, ..is.clone() };
        tell(work, app, instance, &alarm, &as_told, kind).await?;
        incidents::advance(work, &begun, &is).await?;
        incidents::tidy(work, instance.id, alarm.id, now).await?;
        told = true;
    }
    Ok(told)
}
