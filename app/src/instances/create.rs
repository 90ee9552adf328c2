//! Ordering an instance: everything about it is chosen and saved at once,
//! before anything exists.

use super::choose::{self, Network, Order};
use super::validate;
use super::write::{WriteError, write};
use crate::idempotency::{self, Repeatable};
use crate::{App, Asked, Caller, Error, Problems, Result, Right, limits};
use model::{InstanceId, InstanceName, Plan, Region, Secret, Tags, VpcId};
use serde::{Deserialize, Serialize};

/// Another control plane may take the same names at the same moment.
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
    pub no_default_alarms: bool,
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
        // Checked again where it is written; here it saves making keys in vain.
        let reader = &mut app.store().reader();
        if let Err(error) = limits::check_instance(reader, app, caller.account_id, &order).await {
            return idempotency::answered(app, repeatable.as_ref()).await?.ok_or(error);
        }
        let chosen = choose::choose(app)?;
        // One at a time between asking for places and taking them; keys are
        // made before, because that is what takes long.
        let _turn = app.placing.lock().await;
        // The call that had the turn before may have been this very one.
        if let Some(created) = idempotency::answered(app, repeatable.as_ref()).await? {
            return Ok(created);
        }
        let places = choose::place(app, &order).await?;
        match write(caller, app, &order, &chosen, places, repeatable.as_ref()).await {
            Ok(created) => return Ok(created),
            // Another call got one of the names or addresses first, or this
            // very call was answered in the meantime.
            Err(WriteError::Taken) => {}
            // Or was answered by another control plane, whose subnet is in the way.
            Err(WriteError::Failed(error)) => {
                return idempotency::answered(app, repeatable.as_ref()).await?.ok_or(error);
            }
        }
    }
    Err(Error::Refused("This region is busy; try again in a few seconds".into()))
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
    let network = network(found, new.vpc_id, new.vpc_subnet.as_deref());
    let disk_size = new.disk_size.and_then(|size| validate::disk_size(found, &app.catalogue, size));
    let tags = found.take("tags", Tags::parse(new.tags));
    if new.copies_settings {
        found.add("copy_settings", "is not available; leave it out");
    }
    problems.finish()?;
    let (Some(name), Some(plan), Some(region), Some(kafka_version), Some(network), Some(tags)) =
        (name, plan, region, version, network, tags)
    else {
        return Err(Error::internal("a field is missing without a problem noted"));
    };
    let names_network = network != Network::Make(None);
    offered(plan, region, names_network)?;
    Ok(Order {
        name,
        plan: plan.clone(),
        region: region.clone(),
        kafka_version,
        network,
        disk_size,
        tags,
        no_default_alarms: new.no_default_alarms,
    })
}

/// An id wins over a subnet, which is then not looked at.
fn network(found: &mut Problems, id: Option<i64>, subnet: Option<&str>) -> Option<Network> {
    match (id, subnet) {
        (Some(id), _) => Some(Network::Join(VpcId(id))),
        (None, Some(text)) => {
            found.take("vpc_subnet", text.parse()).map(|subnet| Network::Make(Some(subnet)))
        }
        (None, None) => Some(Network::Make(None)),
    }
}

/// What is in the catalogue but can't be ordered there, or not yet.
fn offered(plan: &Plan, region: &Region, names_network: bool) -> Result<()> {
    if !plan.shared() {
        return Ok(());
    }
    if names_network {
        return Err(Error::NotOnSharedPlans);
    }
    if !region.has_shared_plans {
        let what = format!("has no shared plans, so not {}", plan.name);
        return Err(Error::field("region", what));
    }
    Err(Error::Refused(format!("The plan {} is not available yet", plan.name)))
}
