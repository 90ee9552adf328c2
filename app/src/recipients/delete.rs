//! Somebody who is not told any more. The default one may go as well.

use super::about;
use crate::alarms::{tell_leaver, tell_of_change};
use crate::{App, Error, InstanceAccess, Result, audit};
use model::RecipientId;
use store::{alarms, notifications, recipients};

/// `None` stands for a path segment that is no id.
pub async fn delete(
    access: &InstanceAccess,
    app: &App,
    recipient: Option<RecipientId>,
) -> Result<()> {
    access.may_change()?;
    let (id, recipient) = (access.instance.id, recipient.ok_or(Error::NotFound)?);
    let mut work = app.store().begin().await?;
    let found = recipients::find(&mut work, id, recipient).await?.ok_or(Error::NotFound)?;
    recipients::delete(&mut work, id, recipient).await?;
    notifications::withdraw(&mut work, id, recipient).await?;
    tell_leaver(&mut work, app, &access.instance, &found).await?;
    // An alarm that named nobody else is everybody's now, and may fire.
    for (before, after) in alarms::forget_recipient(&mut work, id, recipient).await? {
        tell_of_change(&mut work, app, &access.instance, &before, &after).await?;
    }
    let asker = access.asker(&mut work).await?;
    let extras = about(&access.instance, recipient, found.kind, &found.name);
    audit::write(&mut work, &asker, app.now(), "recipient.delete", &extras).await?;
    Ok(work.commit().await?)
}
