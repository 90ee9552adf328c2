//! Reading whom alarms are told to.

use crate::{App, Error, InstanceAccess, Result};
use model::{Recipient, RecipientId, RecipientType, Secret};
use store::recipients;

/// By id.
pub async fn list(access: &InstanceAccess, app: &App) -> Result<Vec<Recipient>> {
    let found = recipients::list(&mut app.store().reader(), access.instance.id).await?;
    Ok(found.into_iter().map(|recipient| shown(access, recipient)).collect())
}

/// `None` stands for a path segment that is no id.
pub async fn read(
    access: &InstanceAccess,
    app: &App,
    recipient: Option<RecipientId>,
) -> Result<Recipient> {
    let recipient = recipient.ok_or(Error::NotFound)?;
    let found = recipients::find(&mut app.store().reader(), access.instance.id, recipient).await?;
    found.map(|recipient| shown(access, recipient)).ok_or(Error::NotFound)
}

/// Whoever may not change anything sees no keys; an address that lets its holder
/// write into somebody's chat is one.
fn shown(access: &InstanceAccess, mut recipient: Recipient) -> Recipient {
    if access.masked() {
        if recipient.kind != RecipientType::Email {
            recipient.value = Secret::new("");
        }
        recipient.options.secret = recipient.options.secret.map(|_| Secret::new(""));
    }
    recipient
}
