//! Another password for the default user. The engine writes it into Kafka within
//! moments, or once enough controllers run; until then the old one is good.

use crate::access::{self, on_servers_of_its_own};
use crate::{App, InstanceAccess, Result, audit};
use store::instances;

pub async fn rotate_password(access: &InstanceAccess, app: &App) -> Result<()> {
    access.may_change()?;
    let mut work = app.store().begin().await?;
    let instance = access.still_there(&mut work).await?;
    on_servers_of_its_own(app, &instance)?;
    access::ready(&instance)?;
    instances::set_password(&mut work, instance.id, &app.entropy().password()).await?;
    instances::wake(&mut work, instance.id, app.now()).await?;
    let asker = access.asker(&mut work).await?;
    let extras = [("id", instance.id.to_string()), ("name", instance.name.to_string())];
    audit::write(&mut work, &asker, app.now(), "instance.rotate_password", &extras).await?;
    work.commit().await.map_err(Into::into)
}
