//! Making a network that stands alone.

use super::choose_subnet;
use crate::instances::validate;
use crate::{App, Asked, Caller, Error, Problems, Result, Right, audit, limits};
use model::{InstanceName, Region, Subnet, Tags, Vpc, VpcId};

/// What a customer says of a new network, as sent.
#[derive(Clone, Debug, Default)]
pub struct NewVpc {
    pub name: Option<String>,
    pub region: Option<String>,
    pub subnet: Option<String>,
    pub tags: Vec<String>,
}

struct Order {
    name: InstanceName,
    region: Region,
    subnet: Subnet,
    tags: Tags,
}

pub async fn create(caller: &Caller, app: &App, asked: Asked<NewVpc>) -> Result<VpcId> {
    caller.may(Right::CreateInstances)?;
    let (new, problems) = asked.open()?;
    let order = check(app, new, problems)?;
    let now = app.now();
    let mut work = app.store().begin().await?;
    limits::check_vpc(&mut work, app, caller.account_id).await?;
    let asked = Some(order.subnet);
    let subnet = choose_subnet(&mut work, caller, app, &order.region, "subnet", asked).await?;
    let vpc = Vpc {
        id: VpcId(work.next("vpcs").await?),
        account_id: caller.account_id,
        name: order.name.to_string(),
        region: order.region.full_name(),
        subnet,
        tags: order.tags,
        provider_id: app.entropy().uuid(),
        made_for: None,
        created_at: now,
        deleted_at: None,
    };
    store::vpcs::insert(&mut work, &vpc).await?;
    let extras = [
        ("id", vpc.id.to_string()),
        ("name", vpc.name),
        ("region", vpc.region.to_string()),
        ("subnet", vpc.subnet.to_string()),
    ];
    audit::write(&mut work, caller, now, "vpc.create", &extras).await?;
    work.commit().await?;
    Ok(vpc.id)
}

fn check(app: &App, new: NewVpc, mut problems: Problems) -> Result<Order> {
    let found = &mut problems;
    let name = found
        .required("name", new.name)
        .and_then(|name| found.take("name", InstanceName::parse(name)));
    let region = found
        .required("region", new.region)
        .and_then(|name| validate::region(found, &app.catalogue, &name));
    let subnet = found
        .required("subnet", new.subnet)
        .and_then(|text| found.take("subnet", text.parse::<Subnet>()));
    let tags = found.take("tags", Tags::parse(new.tags));
    problems.finish()?;
    let (Some(name), Some(region), Some(subnet), Some(tags)) = (name, region, subnet, tags) else {
        return Err(Error::internal("a field is missing without a problem noted"));
    };
    Ok(Order { name, region: region.clone(), subnet, tags })
}
