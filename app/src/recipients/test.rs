//! Trying whether somebody can be told.

use super::about;
use crate::{App, Error, InstanceAccess, Result, audit};
use model::{Notification, RecipientId};
use store::{recipients, tellings};

/// Puts a test on its way; what became of it is the recipient's last status. It takes the
/// place of one that is still tried: whoever asks again has mended something meanwhile.
/// `None` stands for a path segment that is no id.
pub async fn test(
    access: &InstanceAccess,
    app: &App,
    recipient: Option<RecipientId>,
) -> Result<()> {
    access.may_change()?;
    let (instance, now) = (&access.instance, app.now());
    let recipient = recipient.ok_or(Error::NotFound)?;
    let mut work = app.store().begin().await?;
    let found = recipients::find(&mut work, instance.id, recipient).await?;
    let found = found.ok_or(Error::NotFound)?;
    tellings::withdraw_test(&mut work, instance.id, recipient).await?;
    let id = app.entropy().uuid();
    let notification = Notification::test(id, instance.id, instance.name.as_str());
    tellings::insert(&mut work, &found, notification, now).await?;
    let asker = access.asker(&mut work).await?;
    let extras = about(instance, recipient, found.kind, &found.name);
    audit::write(&mut work, &asker, now, "recipient.test", &extras).await?;
    Ok(work.commit().await?)
}
