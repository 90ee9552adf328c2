//! Changing an instance. Name and tags are saved at once; what servers have to follow
//! (`crate::actions::change`) is checked in full before anything is written. The version of
//! Kafka may be repeated but not changed yet.

mod target;

use crate::actions::{DryRun, Preview, ServerChange, change_servers, preview_change};
use crate::{
    App, Asked, Caller, Error, InstanceAccess, Need, Result, Right, access, audit, history,
};
use model::{ActionId, Instance, InstanceId, InstanceName, Tags};
use store::{Work, instances};
use target::Target;

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
    /// Whether topics of one replica get more when one server becomes several; yes if it is
    /// not given.
    pub raise_replication: Option<bool>,
    /// One server may be left, with one copy of everything.
    pub accept_single_copy: Option<bool>,
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

/// What no server follows.
#[derive(Clone, Debug)]
pub(crate) struct Labels {
    pub name: InstanceName,
    pub tags: Tags,
}

/// What became of a change.
#[derive(Debug)]
pub enum Updated {
    /// No server has to follow.
    Saved,
    Begun(ActionId),
    /// It was asked what would be done, and nothing was.
    Planned(Preview),
}

pub async fn update(
    caller: &Caller,
    app: &App,
    id: Option<InstanceId>,
    asked: Asked<InstanceChanges>,
    dry_run: Asked<DryRun>,
) -> Result<Updated> {
    caller.may(Right::ChangeInstances)?;
    let mut work = app.store().begin().await?;
    let instance = access::visible(caller, &mut work, id).await?;
    let DryRun(is_dry_run) = dry_run.checked()?;
    let target = read(caller, app, &mut work, &instance, asked).await?;
    if target.change.is_none() && !is_dry_run {
        set_labels(&mut work, caller, app, &instance, &target).await?;
        work.commit().await?;
        return Ok(Updated::Saved);
    }
    // Clouds and brokers are asked while no transaction is open.
    drop(work);
    let Target { labels, change } = target;
    let access = InstanceAccess::of_caller(caller, app, id, Need::Change).await?;
    if is_dry_run {
        let planned = preview_change(&access, app, &instance, change.as_ref()).await?;
        return Ok(Updated::Planned(planned));
    }
    let Some(change) = change else { return Ok(Updated::Saved) };
    let action = change_servers(&access, app, &instance, &change, &labels).await?;
    Ok(Updated::Begun(action))
}

/// Everything that is wrong with a request is found before anything is done.
async fn read(
    caller: &Caller,
    app: &App,
    work: &mut Work,
    instance: &Instance,
    asked: Asked<InstanceChanges>,
) -> Result<Target> {
    let (changes, problems) = asked.open()?;
    if changes.tags.is_some() {
        caller.may(Right::CreateInstances)?;
    }
    let target = Target::read(app, work, instance, &changes, problems).await?;
    if changes.is_empty() {
        return Err(Error::Refused(
            "Give at least one of name, plan, nodes, tags, disk_size, kafka_version".into(),
        ));
    }
    Ok(target)
}

async fn set_labels(
    work: &mut Work,
    caller: &Caller,
    app: &App,
    instance: &Instance,
    target: &Target,
) -> Result<()> {
    let Labels { name, tags } = &target.labels;
    if *name == instance.name && *tags == instance.tags {
        return Ok(());
    }
    instances::set_labels(work, instance.id, name, tags).await?;
    let instance = Instance { name: name.clone(), tags: tags.clone(), ..instance.clone() };
    history::changed(work, app, &instance).await?;
    audit::write(work, caller, app.now(), "instance.update", &label_extras(&instance)).await
}

/// What an audit line tells of them.
pub(crate) fn label_extras(instance: &Instance) -> [(&'static str, String); 3] {
    [
        ("id", instance.id.to_string()),
        ("name", instance.name.to_string()),
        ("tags", instance.tags.as_slice().join(",")),
    ]
}

/// What a customer may say of a disk, as sent.
#[derive(Clone, Debug, Default)]
pub struct DiskChange {
    /// Gigabytes of each server on top of the plan's.
    pub extra_disk_size: Option<i64>,
    /// Accepted for clients that send it: no disk needs a server to be stopped.
    pub allow_downtime: Option<bool>,
}

/// Gives every server a larger disk. None if it is as large already.
pub async fn resize_disk(
    access: &InstanceAccess,
    app: &App,
    asked: Asked<DiskChange>,
) -> Result<Option<ActionId>> {
    access.may_change()?;
    let mut reader = app.store().reader();
    let instance = access.still_there(&mut reader).await?;
    access::on_servers_of_its_own(app, &instance)?;
    let (asked, mut problems) = asked.open()?;
    let extra = problems.required("extra_disk_size", asked.extra_disk_size);
    let change = target::of_disk(app, &instance, extra, problems)?;
    let Some(change) = change else { return Ok(None) };
    let labels = Labels { name: instance.name.clone(), tags: instance.tags.clone() };
    change_servers(access, app, &instance, &change, &labels).await.map(Some)
}

/// A change that leaves servers as they are is none.
fn real(change: ServerChange, instance: &Instance) -> Option<ServerChange> {
    let is_real = change.plan.name != instance.plan || change.grows_disks();
    is_real.then_some(change)
}
