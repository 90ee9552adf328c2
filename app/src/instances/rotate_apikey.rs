//! A new key for an instance's own API. The old one stops at that moment: the
//! two are one column.

use crate::{App, Caller, Result, Right, access, audit};
use model::{InstanceId, Secret};
use store::instances;

pub async fn rotate_apikey(caller: &Caller, app: &App, id: Option<InstanceId>) -> Result<Secret> {
    caller.may(Right::ChangeInstances)?;
    let mut work = app.store().begin().await?;
    let instance = access::visible(caller, &mut work, id).await?;
    let apikey = app.entropy().key();
    instances::set_apikey(&mut work, instance.id, &apikey).await?;
    let extras = [("id", instance.id.to_string()), ("name", instance.name.to_string())];
    audit::write(&mut work, caller, app.now(), "instance.rotate_apikey", &extras).await?;
    work.commit().await?;
    Ok(apikey)
}
