//! What bills are made of, written with every change of an instance and in its
//! transaction.
//!
//! A price, that of disk beyond the plan included, is taken from the catalogue when a
//! plan is chosen and stays until another plan is: an operator's new prices are for new
//! choices, and rewrite nothing. Disk that is added later is paid for at the price of that day,
//! on top of what was agreed.

use crate::{App, Error, Result};
use model::{AgreedPrice, Cents, HistoryChange, HistoryEntry, Instance, Timestamp};
use store::{Work, history};

/// Notes a new instance.
pub(crate) async fn created(work: &mut Work, app: &App, instance: &Instance) -> Result<()> {
    let entry = entry(app, instance, HistoryChange::Created, instance.created_at, None)?;
    Ok(history::insert(work, &entry).await?)
}

/// Notes an instance's new name, tags or plan.
pub(crate) async fn changed(work: &mut Work, app: &App, instance: &Instance) -> Result<()> {
    note(work, app, instance, HistoryChange::Changed).await
}

/// Notes another plan or more disk, from the moment of its acceptance on.
pub(crate) async fn chosen(
    work: &mut Work,
    app: &App,
    before: &Instance,
    after: &Instance,
) -> Result<()> {
    let last = history::last(work, after.id).await?;
    let mut entry = entry(app, after, HistoryChange::Changed, app.now(), last.as_ref())?;
    if before.plan == after.plan {
        entry.price = with_more_disk(app, after, entry.price, before.disk_size);
    }
    Ok(history::insert(work, &entry).await?)
}

/// What was agreed for the instance as it is; none if its history does not tell.
pub(crate) async fn agreed(work: &mut Work, instance: &Instance) -> Result<Option<AgreedPrice>> {
    let last = history::last(work, instance.id).await?.filter(|last| last.plan == instance.plan);
    let (plan, disk_size) = (instance.plan.clone(), instance.disk_size);
    Ok(last.map(|last| AgreedPrice { plan, disk_size, price: last.price }))
}

/// Notes that a change of plan is undone. What was agreed before holds again; disks stay as
/// large as they became meanwhile.
pub(crate) async fn undone(
    work: &mut Work,
    app: &App,
    after: &Instance,
    agreed: Option<&AgreedPrice>,
) -> Result<()> {
    let last = history::last(work, after.id).await?;
    let mut entry = entry(app, after, HistoryChange::Changed, app.now(), last.as_ref())?;
    if let Some(agreed) = agreed.filter(|agreed| agreed.plan == after.plan) {
        entry.price = with_more_disk(app, after, agreed.price, agreed.disk_size);
    }
    Ok(history::insert(work, &entry).await?)
}

/// A price that was agreed for disks of this size before, with those that it has now.
fn with_more_disk(app: &App, now: &Instance, agreed: Cents, before: Option<u32>) -> Cents {
    let Some(plan) = app.catalogue.plan(&now.plan.0) else { return agreed };
    let price = |disk_size| plan.price_cents(disk_size).0;
    let more = price(now.disk_size) - price(before);
    Cents(agreed.0.saturating_add(more))
}

/// Notes that nothing is to be paid from now on.
pub(crate) async fn deleted(work: &mut Work, app: &App, instance: &Instance) -> Result<()> {
    note(work, app, instance, HistoryChange::Deleted).await
}

async fn note(
    work: &mut Work,
    app: &App,
    instance: &Instance,
    change: HistoryChange,
) -> Result<()> {
    let last = history::last(work, instance.id).await?;
    let entry = entry(app, instance, change, app.now(), last.as_ref())?;
    Ok(history::insert(work, &entry).await?)
}

fn entry(
    app: &App,
    instance: &Instance,
    change: HistoryChange,
    at: Timestamp,
    last: Option<&HistoryEntry>,
) -> Result<HistoryEntry> {
    let agreed = last.filter(|last| last.plan == instance.plan).map(|last| last.price);
    let plan = || app.catalogue.plan(&instance.plan.0);
    let offered = || plan().map(|plan| plan.price_cents(instance.disk_size));
    let price = agreed.or_else(offered).ok_or_else(|| {
        Error::internal(format!("no price is known for the plan {}", instance.plan))
    })?;
    Ok(HistoryEntry {
        instance_id: instance.id,
        account_id: instance.account_id,
        at,
        change,
        name: instance.name.clone(),
        plan: instance.plan.clone(),
        price,
        tags: instance.tags.clone(),
    })
}
