//! Deleting a network that nobody lives in. From here on nobody sees it, and
//! the engine removes it.

use super::visible;
use crate::{App, Caller, Error, Result, Right, audit};
use model::{InstanceId, VpcId};

pub async fn delete(caller: &Caller, app: &App, id: Option<VpcId>) -> Result<()> {
    caller.may(Right::CreateInstances)?;
    let mut work = app.store().begin().await?;
    let vpc = visible(caller, &mut work, id).await?;
    let living = store::vpcs::living(&mut work, vpc.id).await?;
    if !living.is_empty() {
        return Err(Error::Refused(in_use(&living)));
    }
    let now = app.now();
    store::vpcs::set_deleted(&mut work, vpc.id, now).await?;
    let extras = [("id", vpc.id.to_string()), ("name", vpc.name)];
    audit::write(&mut work, caller, now, "vpc.delete", &extras).await?;
    Ok(work.commit().await?)
}

fn in_use(living: &[InstanceId]) -> String {
    let ids: Vec<String> = living.iter().map(ToString::to_string).collect();
    match ids.as_slice() {
        [one] => format!("The VPC is in use by instance {one}; delete that first"),
        many => format!("The VPC is in use by instances {}; delete them first", many.join(", ")),
    }
}
