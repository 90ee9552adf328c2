//! The networks a caller sees, and who lives in them.

use super::visible;
use crate::{App, Caller, Result, Right};
use model::{Instance, InstanceId, Vpc, VpcId};
use store::Run;

/// A network with the instances in it that the caller sees, by id.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct VpcView {
    pub vpc: Vpc,
    pub instances: Vec<InstanceId>,
}

/// By id.
pub async fn list(caller: &Caller, app: &App) -> Result<Vec<VpcView>> {
    caller.may(Right::SeeInstances)?;
    let mut reader = app.store().reader();
    let vpcs = store::vpcs::list(&mut reader, caller.account_id).await?;
    let instances = seen(caller, &mut reader).await?;
    let visible = vpcs.into_iter().filter(|vpc| caller.sees_vpc(vpc));
    Ok(visible.map(|vpc| view(vpc, &instances)).collect())
}

pub async fn read(caller: &Caller, app: &App, id: Option<VpcId>) -> Result<VpcView> {
    caller.may(Right::SeeInstances)?;
    let mut reader = app.store().reader();
    let vpc = visible(caller, &mut reader, id).await?;
    let instances = seen(caller, &mut reader).await?;
    Ok(view(vpc, &instances))
}

async fn seen(caller: &Caller, run: &mut impl Run) -> Result<Vec<Instance>> {
    let mut all = store::instances::list(run, caller.account_id).await?;
    all.retain(|instance| caller.sees(instance));
    Ok(all)
}

fn view(vpc: Vpc, instances: &[Instance]) -> VpcView {
    let inside = instances.iter().filter(|instance| instance.vpc_id == vpc.id);
    VpcView { instances: inside.map(|instance| instance.id).collect(), vpc }
}
