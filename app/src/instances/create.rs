//! Ordering an instance: everything about it is chosen and saved at once,
//! before anything exists.

use super::choose::{self, Order};
use super::validate;
use super::write::{WriteError, write};
use crate::idempotency::{self, Repeatable};
use crate::{App, Asked, Caller, Error, Problems, Result, Right};
use model::{InstanceId, InstanceName, Plan, Secret, Subnet, Tags};
use serde::{Deserialize, Serialize};

/// Another create may take the same addresses at the same moment.
const ATTEMPTS: usize = 5;
const OPERATION: &str = "instances.create";

/// What a customer may say of a new instance, as sent.
#[derive(Clone, Debug, Default, Serialize)]
pub struct NewInstance {
    pub name: Option<String>,
    pub plan: Option<String>,
    pub region: Option<String>,
    pub vpc_subnet: Option<String>,
    pub vpc_id: Option<i64>,
    pub nodes: Option<i64>,
    pub kafka_version: Option<String>,
    pub tags: Vec<String>,
    pub disk_size: Option<i64>,
    /// Something was sent to copy from another instance.
    pub copies_settings: bool,
    /// Names this order, so that sending it again makes no second instance.
    pub idempotency_key: Option<String>,
}

/// A new instance, with the two secrets its owner starts with.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Created {
    pub id: InstanceId,
    pub url: Secret,
    pub apikey: Secret,
}

pub async fn create(caller: &Caller, app: &App, asked: Asked<NewInstance>) -> Result<Created> {
    caller.may(Right::CreateInstances)?;
    let (new, mut problems) = asked.open()?;
    let key = new.idempotency_key.as_deref();
    let repeatable = Repeatable::new(caller, OPERATION, key, &new, &mut problems);
    let order = check(app, new, problems)?;
    for _ in 0..ATTEMPTS {
        if let Some(created) = idempotency::answered(app, repeatable.as_ref()).await? {
            return Ok(created);
        }
        let placements = propose(app, &order).await?;
        let chosen = choose::choose(app, &order, placements)?;
        match write(caller, app, &order, &chosen, repeatable.as_ref()).await {
            Ok(created) => return Ok(created),
            // Somebody else got one of the names or addresses first, or this
            // very call was answered in the meantime.
            Err(WriteError::Taken) => {}
            Err(WriteError::Failed(error)) => return Err(error),
        }
    }
    Err(Error::Refused(
        "Other instances took every address that was free; try again in a few seconds".into(),
    ))
}

async fn propose(app: &App, order: &Order) -> Result<Vec<crate::Placement>> {
    let taken = store::servers::taken_listeners(&mut app.store().reader()).await?;
    let nodes = order.plan.nodes;
    let placements =
        app.places.propose(&order.region, &taken, &order.plan).await.map_err(Error::Refused)?;
    if placements.len() == nodes as usize && !placements.is_empty() {
        Ok(placements)
    } else {
        Err(Error::internal("the region proposed another number of places than asked for"))
    }
}

fn check(app: &App, new: NewInstance, mut problems: Problems) -> Result<Order> {
    let found = &mut problems;
    let name = found
        .required("name", new.name)
        .and_then(|name| found.take("name", InstanceName::parse(name)));
    let plan_name = found.required("plan", new.plan);
    let plan = plan_name
        .and_then(|name| validate::plan(found, &app.catalogue, Some(&name), new.nodes, None));
    let region_name = found.required("region", new.region);
    let region = region_name.and_then(|name| validate::region(found, &app.catalogue, &name));
    let version = match new.kafka_version {
        Some(text) => validate::kafka_version(found, &app.catalogue, &text),
        None => Some(app.catalogue.newest_kafka()),
    };
    let subnet = new.vpc_subnet.and_then(|text| found.take("vpc_subnet", text.parse::<Subnet>()));
    let disk_size = new.disk_size.and_then(|size| validate::disk_size(found, size));
    let tags = found.take("tags", Tags::parse(new.tags));
    if new.vpc_id.is_some() {
        found.add("vpc_id", "comes with a later release; give vpc_subnet or leave both out");
    }
    if new.copies_settings {
        found.add("copy_settings", "is not available; leave it out");
    }
    problems.finish()?;
    let (Some(name), Some(plan), Some(region), Some(kafka_version), Some(tags)) =
        (name, plan, region, version, tags)
    else {
        return Err(Error::internal("a field is missing without a problem noted"));
    };
    offered(plan)?;
    Ok(Order {
        name,
        plan: plan.clone(),
        region: region.clone(),
        kafka_version,
        subnet,
        disk_size,
        tags,
    })
}

/// What is in the catalogue but can't be ordered yet.
fn offered(plan: &Plan) -> Result<()> {
    if plan.shared() {
        return Err(Error::Refused(format!("The plan {} is not available yet", plan.name)));
    }
    Ok(())
}
