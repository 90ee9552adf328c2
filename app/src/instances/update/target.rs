//! What an instance shall be after a change, from what was sent. Nothing is written, and no
//! server is asked.

use super::{InstanceChanges, Labels, real};
use crate::actions::ServerChange;
use crate::instances::validate;
use crate::{App, Error, ErrorCode, Problems, Result};
use model::{Instance, InstanceName, KafkaVersion, Plan, Subnet, Tags, Vpc};
use store::{Work, disks, vpcs};

pub(super) struct Target {
    pub labels: Labels,
    /// None: servers stay as they are.
    pub change: Option<ServerChange>,
}

impl Target {
    pub async fn read(
        app: &App,
        work: &mut Work,
        instance: &Instance,
        changes: &InstanceChanges,
        mut problems: Problems,
    ) -> Result<Self> {
        let name = match changes.name.clone() {
            Some(name) => problems.take("name", InstanceName::parse(name)),
            None => None,
        };
        let tags = match changes.tags.clone() {
            Some(tags) => problems.take("tags", Tags::parse(tags)),
            None => None,
        };
        let vpc = vpcs::find(work, instance.vpc_id).await?.ok_or(Error::InvalidId)?;
        check_place(instance, &vpc, changes, &mut problems);
        let disks = disks::list(work, instance.id).await?;
        let has_gb = disks.iter().map(|disk| disk.size_gb).max().unwrap_or_default();
        let change = servers(app, instance, changes, has_gb, problems)?;
        let labels = Labels {
            name: name.unwrap_or_else(|| instance.name.clone()),
            tags: tags.unwrap_or_else(|| instance.tags.clone()),
        };
        Ok(Self { labels, change })
    }
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

/// What servers have to follow: each field is checked, and all of them against
/// what the instance is. `has_gb` is what its disks have.
fn servers(
    app: &App,
    instance: &Instance,
    changes: &InstanceChanges,
    has_gb: u32,
    mut problems: Problems,
) -> Result<Option<ServerChange>> {
    let catalogue = &app.catalogue;
    let found = &mut problems;
    let present = catalogue.plan(&instance.plan.0);
    let plan = if keeps_plan(instance, changes) {
        present
    } else {
        validate::plan(found, catalogue, changes.plan.as_deref(), changes.nodes, present)
    };
    let version = other_version(app, instance, changes, found);
    // The disk that it has may be larger than what is offered by now.
    let disk_size = match (changes.disk_size, instance.disk_size) {
        (Some(asked), Some(has)) if asked == i64::from(has) => Some(has),
        (asked, _) => asked.and_then(|size| validate::disk_size(found, catalogue, size)),
    };
    if let (Some(present), Some(plan)) = (present, plan) {
        check_plan(found, present, plan);
    }
    if present.is_none() && plan.is_none() && disk_size.is_some_and(|size| size != has_gb) {
        let what = format!("can't be changed: the plan {} is no longer offered", instance.plan);
        found.add("disk_size", what);
    }
    problems.finish()?;
    if version.is_some() {
        return Err(Error::Refused("Changing kafka_version is not available yet".into()));
    }
    // What is no longer offered stays as it is.
    let Some(plan) = plan else { return Ok(None) };
    let has_gb = present.map_or(has_gb, |present| present.disk_gb(instance.disk_size));
    let is_asked = disk_size.is_some();
    let disk_size = disk_size.or(instance.disk_size);
    if plan.disk_gb(disk_size) < has_gb {
        return Err(if is_asked {
            smaller("disk_size", has_gb)
        } else {
            smaller_plan(plan, has_gb)
        });
    }
    let change = ServerChange {
        plan: plan.clone(),
        from: present.cloned(),
        nodes_before: instance.nodes,
        disk_before: has_gb,
        disk_size,
        raise_replication: changes.raise_replication.unwrap_or(true),
        accept_single_copy: changes.accept_single_copy.unwrap_or(false),
    };
    Ok(real(change, instance))
}

/// The version that is asked for, if it is not the one that runs.
fn other_version(
    app: &App,
    instance: &Instance,
    changes: &InstanceChanges,
    found: &mut Problems,
) -> Option<KafkaVersion> {
    let is_other = |text: &&str| text.parse::<KafkaVersion>().ok() != Some(instance.kafka_version);
    let text = changes.kafka_version.as_deref().filter(is_other)?;
    let version = validate::kafka_version(found, &app.catalogue, text)?;
    if version < instance.kafka_version {
        let what = format!("can't go below {}, which it runs", instance.kafka_version);
        found.add("kafka_version", what);
    }
    Some(version)
}

fn check_plan(found: &mut Problems, present: &Plan, plan: &Plan) {
    if present.shared() != plan.shared() {
        let (from, to) = (&present.name, &plan.name);
        let what = format!("can't change from {from} to {to}: one is shared, one is dedicated");
        found.add("plan", what);
    }
}

/// Disks only grow, also by a change of plan.
fn smaller_plan(plan: &Plan, has_gb: u32) -> Error {
    let (name, gb) = (&plan.name, plan.disk_gb(None));
    let sentence = format!(
        "plan: {name} comes with {gb} GB a server, and disks never become smaller than the \
         {has_gb} GB they have; send disk_size: {has_gb} beside the plan"
    );
    Error::Coded { code: ErrorCode::SMALLER_DISK, sentence }
}

fn smaller(field: &str, least: u32) -> Error {
    let sentence = format!("{field}: must be at least {least}, the gigabytes each server has now");
    Error::Coded { code: ErrorCode::SMALLER_DISK, sentence }
}

/// The change that a larger disk of each server is. None if it is as large already.
pub(super) fn of_disk(
    app: &App,
    instance: &Instance,
    extra: Option<i64>,
    mut problems: Problems,
) -> Result<Option<ServerChange>> {
    let Some(plan) = app.catalogue.plan(&instance.plan.0) else {
        let sentence =
            format!("Disks can't be changed: the plan {} is no longer offered", instance.plan);
        return Err(Error::Refused(sentence));
    };
    let (base, has_gb) = (i64::from(plan.family.disk_gb), plan.disk_gb(instance.disk_size));
    let has = i64::from(has_gb) - base;
    let most = i64::from(app.catalogue.disk().max_gb) - base;
    if extra.is_some_and(|extra| extra > most.max(has)) {
        let what = format!("must be at most {most}, the gigabytes that can be added to this plan");
        problems.add("extra_disk_size", what);
    }
    problems.finish()?;
    let extra = extra.ok_or_else(|| Error::internal("a field is missing without a problem"))?;
    if extra < has {
        let sentence = format!(
            "extra_disk_size: must be at least {has}, the gigabytes each server has now on top of \
             its plan's"
        );
        return Err(Error::Coded { code: ErrorCode::SMALLER_DISK, sentence });
    }
    let disk_size = u32::try_from(base + extra).ok().filter(|_| extra > has);
    let Some(disk_size) = disk_size else { return Ok(None) };
    Ok(Some(ServerChange {
        plan: plan.clone(),
        from: Some(plan.clone()),
        nodes_before: instance.nodes,
        disk_before: has_gb,
        disk_size: Some(disk_size),
        raise_replication: true,
        accept_single_copy: false,
    }))
}
