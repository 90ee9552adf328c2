//! Somebody new to tell.

use super::about;
use super::confirmation::{Asking, ask};
use super::validate::{RecipientFields, validate};
use crate::alarms::tell_newcomer;
use crate::{App, Asked, Error, InstanceAccess, Result, audit};
use model::Recipient;
use store::recipients;

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
        tell_newcomer(&mut work, app, &access.instance, recipient).await?;
    }
    let created = recipients::find(&mut work, id, recipient).await?.ok_or(Error::NotFound)?;
    work.commit().await?;
    Ok(created)
}
