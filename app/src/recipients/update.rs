//! Changing whom or how. What waits for them goes out at once: the old address may
//! be why it waits. At another address what goes on is over at the old one.

use super::about;
use super::confirmation::{Asking, ask};
use super::validate::{RecipientFields, validate};
use crate::{App, Asked, Error, InstanceAccess, Result, audit};
use model::{Recipient, RecipientId};
use store::{NewRecipient, notifications, recipients};
use watch::alarms::{enqueue_for_leaver, enqueue_for_newcomer};

/// `None` stands for a path segment that is no id.
pub async fn update(
    access: &InstanceAccess,
    app: &App,
    recipient: Option<RecipientId>,
    wanted: Asked<RecipientFields>,
) -> Result<Recipient> {
    access.may_change()?;
    let (id, recipient) = (access.instance.id, recipient.ok_or(Error::NotFound)?);
    let before = recipients::find(&mut app.store().reader(), id, recipient).await?;
    let before = before.ok_or(Error::NotFound)?;
    let (fields, problems) = wanted.open()?;
    let new = validate(app, fields, problems, Some(&before)).await?;
    let mut work = app.store().begin().await?;
    if !recipients::update(&mut work, id, recipient, &new).await? {
        return Err(Error::NotFound);
    }
    if !is_same(&before, &new) {
        let asker = access.asker(&mut work).await?;
        let extras = about(&access.instance, recipient, new.kind, &new.name);
        audit::write(&mut work, &asker, app.now(), "recipient.update", &extras).await?;
    }
    let updated = recipients::find(&mut work, id, recipient).await?.ok_or(Error::NotFound)?;
    if (before.kind, &before.value) != (updated.kind, &updated.value) {
        notifications::forget_pace(&mut work, id, recipient).await?;
        recipients::forget_last_status(&mut work, id, recipient).await?;
    }
    let of = (access.instance.account_id, id);
    let is_waiting = !matches!(ask(&mut work, app, of, &updated).await?, Asking::NotNeeded);
    notifications::hasten(&mut work, id, &updated, app.now()).await?;
    if is_elsewhere(&before, &updated) {
        enqueue_for_leaver(&mut work, app.watch(), &access.instance, &before).await?;
        if !is_waiting {
            enqueue_for_newcomer(&mut work, app.watch(), &access.instance, recipient).await?;
        }
    }
    let updated = recipients::find(&mut work, id, recipient).await?.ok_or(Error::NotFound)?;
    work.commit().await?;
    Ok(updated)
}

/// Whether the update changes nothing that was saved; what waits goes out all the same.
fn is_same(before: &Recipient, new: &NewRecipient) -> bool {
    before.updated
        && (before.kind, &before.value, &before.name, &before.options)
            == (new.kind, &new.value, &new.name, &new.options)
}

/// Whether what they were told before is known there by another name, or not at all.
fn is_elsewhere(before: &Recipient, after: &Recipient) -> bool {
    let key = |it: &Recipient| it.options.shared_key().map(str::to_owned);
    (before.kind, &before.value) != (after.kind, &after.value) || key(before) != key(after)
}
