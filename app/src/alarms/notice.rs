//! Telling customers of maintenance, by their notice alarms.

use super::watch::tell;
use crate::{App, Error, Operator, Result, audit};
use model::{AlarmType, Incident, InstanceId, Maintenance, RegionName};
use std::collections::BTreeSet;
use store::{alarms, incidents, instances};

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
/// asked again after a crash, nobody has heard of it yet or everybody has.
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
    let mut told = BTreeSet::new();
    for (id, alarm) in alarms::enabled_of(&mut work, AlarmType::Notice).await? {
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
        // It is over with being told.
        let begun = incidents::begin(&mut work, id, alarm.id, "", now, None).await?;
        let Some(begun) = begun else { continue };
        let is = Incident {
            triggered_at: Some(now),
            resolved_at: Some(now),
            message: message.clone(),
            ..begun.clone()
        };
        let as_told = Incident { resolved_at: None, ..is.clone() };
        tell(&mut work, app, &instance, &alarm, &as_told, kind).await?;
        incidents::advance(&mut work, &begun, &is).await?;
        if told.insert(id) {
            let about = [("id", id.to_string()), ("notice", message.clone())];
            let actor = operator.acting_on(instance.account_id);
            audit::write(&mut work, actor, now, "notice.send", &about).await?;
        }
    }
    work.commit().await?;
    Ok(told.into_iter().collect())
}
