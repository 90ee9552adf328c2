//! What bills are made of, written with every change of an instance and in its
//! transaction.
//!
//! A price, that of disk beyond the plan included, is taken from the catalogue when a
//! plan is chosen and stays until another plan is: an operator's new prices are for new
//! choices, and rewrite nothing. Disk that is added later is paid for at the price of that day,
//! on top of what was agreed.

use crate::{App, Error, Result};
use model::{Cents, HistoryChange, HistoryEntry, Instance, Timestamp};
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
    if before.plan == after.plan
        && let Some(plan) = app.catalogue.plan(&after.plan.0)
    {
        let price = |disk_size| plan.price_cents(disk_size).0;
        let more = price(after.disk_size) - price(before.disk_size);
        entry.price = Cents(entry.price.0.saturating_add(more));
    }
    Ok(history::insert(work, &entry).await?)
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
