//! Stopping a whole cluster and starting it again. No process runs in between;
//! data, addresses and credentials stay.

use crate::{App, Caller, Result, Right, access, audit};
use model::InstanceId;
use store::instances;

/// Whether a cluster shall run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Power {
    Stop,
    Start,
}

/// Notes what shall be; the engine makes it so. Asking again changes nothing.
pub async fn set_power(
    caller: &Caller,
    app: &App,
    id: Option<InstanceId>,
    power: Power,
) -> Result<()> {
    caller.may(Right::ChangeInstances)?;
    let mut work = app.store().begin().await?;
    let instance = access::visible(caller, &mut work, id).await?;
    let now = app.now();
    let (stopped, event) = match power {
        Power::Stop => (true, "instance.stop"),
        Power::Start => (false, "instance.start"),
    };
    instances::set_stopped(&mut work, instance.id, stopped, now).await?;
    let extras = [("id", instance.id.to_string()), ("name", instance.name.to_string())];
    audit::write(&mut work, caller, now, event, &extras).await?;
    Ok(work.commit().await?)
}
