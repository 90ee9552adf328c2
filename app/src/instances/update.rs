//! Changing an instance. For now name and tags, which no server follows; what
//! servers follow may be repeated but not changed.

use super::validate;
use crate::{App, Asked, Caller, Error, Problems, Result, Right, access, audit};
use model::{Instance, InstanceId, InstanceName, Subnet, Tags, Vpc};
use store::{instances, vpcs};

/// What a customer may change, as sent.
#[derive(Clone, Debug, Default)]
pub struct InstanceChanges {
    pub name: Option<String>,
    pub plan: Option<String>,
    pub nodes: Option<i64>,
    /// An empty list means no tags.
    pub tags: Option<Vec<String>>,
    pub disk_size: Option<i64>,
    pub kafka_version: Option<String>,
    /// Region and network never change, but clients send them along.
    pub region: Option<String>,
    pub vpc_id: Option<i64>,
    pub vpc_subnet: Option<String>,
}

impl InstanceChanges {
    fn is_empty(&self) -> bool {
        self.name.is_none()
            && self.plan.is_none()
            && self.nodes.is_none()
            && self.tags.is_none()
            && self.disk_size.is_none()
            && self.kafka_version.is_none()
            && self.region.is_none()
            && self.vpc_id.is_none()
            && self.vpc_subnet.is_none()
    }
}

pub async fn update(
    caller: &Caller,
    app: &App,
    id: Option<InstanceId>,
    asked: Asked<InstanceChanges>,
) -> Result<()> {
    caller.may(Right::ChangeInstances)?;
    let mut work = app.store().begin().await?;
    let instance = access::visible(caller, &mut work, id).await?;
    let (changes, mut problems) = asked.open()?;
    if changes.tags.is_some() {
        caller.may(Right::CreateInstances)?;
    }
    let name = match changes.name.clone() {
        Some(name) => problems.take("name", InstanceName::parse(name)),
        None => None,
    };
    let tags = match changes.tags.clone() {
        Some(tags) => problems.take("tags", Tags::parse(tags)),
        None => None,
    };
    let vpc = vpcs::find(&mut work, instance.vpc_id).await?.ok_or(Error::InvalidId)?;
    check_place(&instance, &vpc, &changes, &mut problems);
    check_server_changes(app, &instance, &changes, problems)?;
    if changes.is_empty() {
        return Err(Error::Refused(
            "Give at least one of name, plan, nodes, tags, disk_size, kafka_version".into(),
        ));
    }
    let name = name.unwrap_or_else(|| instance.name.clone());
    let tags = tags.unwrap_or_else(|| instance.tags.clone());
    if name == instance.name && tags == instance.tags {
        return Ok(());
    }
    instances::set_labels(&mut work, instance.id, &name, &tags).await?;
    let extras = [
        ("id", instance.id.to_string()),
        ("name", name.to_string()),
        ("tags", tags.as_slice().join(",")),
    ];
    audit::write(&mut work, caller, app.now(), "instance.update", &extras).await?;
    Ok(work.commit().await?)
}

/// Where an instance is was decided at its create.
fn check_place(instance: &Instance, vpc: &Vpc, changes: &InstanceChanges, problems: &mut Problems) {
    let region = changes.region.as_ref().is_some_and(|region| *region != instance.region.0);
    let vpc_id = changes.vpc_id.is_some_and(|id| id != vpc.id.0);
    let subnet = changes.vpc_subnet.as_ref();
    let subnet = subnet.and_then(|text| problems.take("vpc_subnet", text.parse::<Subnet>()));
    let vpc_subnet = subnet.is_some_and(|subnet| subnet != vpc.subnet);
    for (field, differs) in [("region", region), ("vpc_id", vpc_id), ("vpc_subnet", vpc_subnet)] {
        if differs {
            problems.add(field, "can't be changed");
        }
    }
}

/// Fails on everything malformed, and then on what is well-formed but differs
/// from what is.
fn check_server_changes(
    app: &App,
    instance: &Instance,
    changes: &InstanceChanges,
    mut problems: Problems,
) -> Result<()> {
    let catalogue = &app.catalogue;
    let present = catalogue.plan(&instance.plan.0);
    let name = changes.plan.as_deref();
    let plan = validate::plan(&mut problems, catalogue, name, changes.nodes, present);
    let version = changes
        .kafka_version
        .as_deref()
        .and_then(|text| validate::kafka_version(&mut problems, catalogue, text));
    let disk_size = changes.disk_size.and_then(|size| validate::disk_size(&mut problems, size));
    problems.finish()?;

    let effective = |size| present.map(|plan| plan.disk_gb(size));
    let differs = [
        ("plan or nodes", plan.is_some_and(|plan| plan.name != instance.plan)),
        ("kafka_version", version.is_some_and(|version| version != instance.kafka_version)),
        ("disk_size", disk_size.is_some() && effective(disk_size) != effective(instance.disk_size)),
    ];
    match differs.into_iter().find(|(_, differs)| *differs) {
        Some((what, _)) => Err(Error::Refused(format!("Changing {what} is not available yet"))),
        None => Ok(()),
    }
}
