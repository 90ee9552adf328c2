//! Alarms of an instance: what people want to be told of.

mod create;
mod defaults;
mod delete;
mod notice;
mod read;
mod update;
mod validate;

pub use create::create;
pub use defaults::set_up;
pub use delete::delete;
pub use notice::{Scope, notice};
pub use read::{history, list, read};
pub use update::update;
pub use validate::{AlarmFields, LARGEST};

use crate::{App, Error, InstanceAccess, Result};
use model::{Alarm, AlarmType, Instance};

/// What the audit log says of an alarm.
fn about(instance: &Instance, alarm: &Alarm) -> [(&'static str, String); 4] {
    [
        ("id", instance.id.to_string()),
        ("name", instance.name.to_string()),
        ("alarm", alarm.id.to_string()),
        ("type", alarm.what.kind.to_string()),
    ]
}

/// Servers of a shared plan are many customers': one is told of notices alone.
fn fits_plan(access: &InstanceAccess, app: &App, kind: AlarmType) -> Result<()> {
    let plan = app.catalogue.plan(&access.instance.plan.0);
    if plan.is_some_and(model::Plan::shared) && kind != AlarmType::Notice {
        return Err(Error::NotOnSharedPlans);
    }
    Ok(())
}
