//! Whom an instance's alarms are told to.

mod confirmation;
mod test;
mod update;
mod validate;

pub use confirmation::{Addressee, Answer, addressee, answer};
pub use test::{Tested, test};
pub use update::update;
pub use validate::{RESPONDERS, RecipientFields};

use crate::{App, Asked, Error, InstanceAccess, Result, audit};
use confirmation::{Asking, ask};
use model::{Instance, Recipient, RecipientId, RecipientType, Secret};
use store::{alarms, notifications, recipients};
use validate::validate;
use watch::alarms::{enqueue_for_change, enqueue_for_leaver, enqueue_for_newcomer};

/// What the audit log says of a recipient; never its value, which may be a key.
fn about(
    instance: &Instance,
    id: RecipientId,
    kind: RecipientType,
    name: &str,
) -> [(&'static str, String); 5] {
    [
        ("id", instance.id.to_string()),
        ("name", instance.name.to_string()),
        ("recipient", id.to_string()),
        ("type", kind.to_string()),
        ("recipient_name", name.to_owned()),
    ]
}

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

/// A caller who may not change anything sees no keys; an address that lets its
/// holder write into somebody's chat is one.
fn shown(access: &InstanceAccess, mut recipient: Recipient) -> Recipient {
    if access.masked() {
        if recipient.kind != RecipientType::Email {
            recipient.value = Secret::new("");
        }
        recipient.options.secret = recipient.options.secret.map(|_| Secret::new(""));
    }
    recipient
}

const MOST: usize = 100;

pub async fn create(
    access: &InstanceAccess,
    app: &App,
    wanted: Asked<RecipientFields>,
) -> Result<Recipient> {
    access.may_change()?;
    let (fields, problems) = wanted.open()?;
    // Before the transaction: an address may have to be looked up.
    let new = validate(app, fields, problems, None).await?;
    let id = access.instance.id;
    let mut work = app.store().begin().await?;
    access.still_there(&mut work).await?;
    if recipients::list(&mut work, id).await?.len() >= MOST {
        let sentence =
            format!("This instance has {MOST} recipients, and can't have more; delete one");
        return Err(Error::Refused(sentence));
    }
    let recipient = recipients::insert(&mut work, id, &new).await?;
    let asker = access.asker(&mut work).await?;
    let extras = about(&access.instance, recipient, new.kind, &new.name);
    audit::write(&mut work, &asker, app.now(), "recipient.create", &extras).await?;
    let created = recipients::find(&mut work, id, recipient).await?.ok_or(Error::NotFound)?;
    let of = (access.instance.account_id, id);
    if let Asking::NotNeeded = ask(&mut work, app, of, &created).await? {
        enqueue_for_newcomer(&mut work, app.watch(), &access.instance, recipient).await?;
    }
    let created = recipients::find(&mut work, id, recipient).await?.ok_or(Error::NotFound)?;
    work.commit().await?;
    Ok(created)
}

/// The default recipient may go as well. `None` stands for a path segment that is no id.
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
    enqueue_for_leaver(&mut work, app.watch(), &access.instance, &found).await?;
    // An alarm that named nobody else is everybody's now, and may fire.
    for (before, after) in alarms::forget_recipient(&mut work, id, recipient).await? {
        enqueue_for_change(&mut work, app.watch(), &access.instance, &before, &after).await?;
    }
    let asker = access.asker(&mut work).await?;
    let extras = about(&access.instance, recipient, found.kind, &found.name);
    audit::write(&mut work, &asker, app.now(), "recipient.delete", &extras).await?;
    Ok(work.commit().await?)
}
