//! Instances: order, list, read, rename, delete. The engine does the rest.

mod choose;
mod create;
mod list;
mod read;
pub(crate) mod rows;
mod update;
pub(crate) mod validate;
mod write;

pub(crate) use choose::{Order, settle};
pub use create::{Created, NewInstance, create};
pub use list::{Listed, Page, list};
pub use read::{InstanceView, read};
pub(crate) use rows::newcomers;
pub use update::{DiskChange, InstanceChanges, Updated, resize_disk, update};
pub(crate) use update::{Labels, label_extras};
pub(crate) use write::WriteError;

use crate::{App, Asked, Caller, Error, Result, Right, access, audit, history};
use model::{InstanceId, Secret};
use store::{instances, vpcs};
use watch::alarms::stop_measuring;

/// How to delete.
#[derive(Clone, Debug, Default)]
pub struct Deletion {
    /// Keep the network that this instance's create made; by default it goes too.
    /// Any other network stays.
    pub keep_vpc: bool,
}

/// Deletes an instance: from here on nobody sees it, and the engine tears it
/// down.
pub async fn delete(
    caller: &Caller,
    app: &App,
    id: Option<InstanceId>,
    how: Asked<Deletion>,
) -> Result<()> {
    caller.may(Right::CreateInstances)?;
    let mut work = app.store().begin().await?;
    let instance = access::visible(caller, &mut work, id).await?;
    let how = how.checked()?;
    let now = app.now();
    if !instances::set_deleted(&mut work, instance.id, now).await? {
        return Err(Error::InvalidId);
    }
    let why = "is over: the instance was deleted";
    stop_measuring(&mut work, app.watch(), &instance, None, why).await?;
    history::deleted(&mut work, app, &instance).await?;
    vpcs::release(&mut work, instance.vpc_id, instance.id, how.keep_vpc, now).await?;
    let extras = [("id", instance.id.to_string()), ("name", instance.name.to_string())];
    audit::write(&mut work, caller, now, "instance.delete", &extras).await?;
    Ok(work.commit().await?)
}

/// A new key for an instance's own API. The old one stops at that moment: the
/// two are one column.
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
