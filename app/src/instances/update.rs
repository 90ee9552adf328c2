//! Changing an instance. For now name and tags, which no server follows; what
//! servers follow is checked in full, and may be repeated but not changed.

use super::validate;
use crate::{App, Asked, Caller, Error, Problems, Result, Right, access, audit, history};
use model::{Instance, InstanceId, InstanceName, KafkaVersion, Plan, Subnet, Tags, Vpc};
use store::{disks, instances, vpcs};

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
    // Its plan says, unless that has left the catalogue.
    let has_gb = match app.catalogue.plan(&instance.plan.0) {
        Some(_) => None,
        None => disks::list(&mut work, instance.id).await?.first().map(|disk| disk.size_gb),
    };
    check_server_changes(app, &instance, &changes, has_gb, problems)?;
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
    let instance = Instance { name: name.clone(), tags: tags.clone(), ..instance };
    history::changed(&mut work, app, &instance).await?;
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

/// Whether plan and nodes are asked to stay. That needs no catalogue: they may
/// have left it.
fn keeps_plan(instance: &Instance, changes: &InstanceChanges) -> bool {
    changes.plan.as_ref().is_none_or(|plan| *plan == instance.plan.0)
        && changes.nodes.is_none_or(|nodes| nodes == i64::from(instance.nodes))
}

/// Fails on everything malformed or never possible, and then on what is possible
/// but differs from what is: servers can't follow it yet. `has_gb` is the size of
/// each server's disk, where no plan says it.
fn check_server_changes(
    app: &App,
    instance: &Instance,
    changes: &InstanceChanges,
    has_gb: Option<u32>,
    mut problems: Problems,
) -> Result<()> {
    let catalogue = &app.catalogue;
    let found = &mut problems;
    let present = catalogue.plan(&instance.plan.0);
    let plan = if keeps_plan(instance, changes) {
        present
    } else {
        validate::plan(found, catalogue, changes.plan.as_deref(), changes.nodes, present)
    };
    let version = changes
        .kafka_version
        .as_deref()
        .filter(|text| text.parse::<KafkaVersion>().ok() != Some(instance.kafka_version))
        .and_then(|text| validate::kafka_version(found, catalogue, text));
    // The disk that it has may be larger than what is offered by now.
    let disk_size = match (changes.disk_size, instance.disk_size) {
        (Some(asked), Some(has)) if asked == i64::from(has) => Some(has),
        (asked, _) => asked.and_then(|size| validate::disk_size(found, catalogue, size)),
    };
    if let (Some(present), Some(plan)) = (present, plan) {
        check_plan(found, present, plan);
        check_disk(found, instance, present, plan, disk_size);
    }
    if present.is_none() && disk_size.is_some_and(|size| Some(size) != has_gb) {
        let what = format!("can't be changed: the plan {} is no longer offered", instance.plan);
        found.add("disk_size", what);
    }
    if version.is_some_and(|version| version < instance.kafka_version) {
        let what = format!("can't go below {}, which it runs", instance.kafka_version);
        found.add("kafka_version", what);
    }
    problems.finish()?;

    let asked = disk_size.or(instance.disk_size);
    let grows = present
        .zip(plan)
        .is_some_and(|(present, plan)| plan.disk_gb(asked) != present.disk_gb(instance.disk_size));
    let differs = [
        ("plan or nodes", plan.is_some_and(|plan| plan.name != instance.plan)),
        ("kafka_version", version.is_some()),
        ("disk_size", grows),
    ];
    match differs.into_iter().find(|(_, differs)| *differs) {
        Some((what, _)) => Err(Error::Refused(format!("Changing {what} is not available yet"))),
        None => Ok(()),
    }
}

fn check_plan(found: &mut Problems, present: &Plan, plan: &Plan) {
    if present.shared() != plan.shared() {
        let (from, to) = (&present.name, &plan.name);
        let what = format!("can't change from {from} to {to}: one is shared, one is dedicated");
        found.add("plan", what);
    }
}

/// Disks only grow, also by a change of plan.
fn check_disk(
    found: &mut Problems,
    instance: &Instance,
    present: &Plan,
    plan: &Plan,
    asked: Option<u32>,
) {
    let is = present.disk_gb(instance.disk_size);
    let would_be = plan.disk_gb(asked.or(instance.disk_size));
    if would_be < is {
        let what = format!("must be at least {is}, the gigabytes each server has now");
        found.add("disk_size", what);
    }
}
