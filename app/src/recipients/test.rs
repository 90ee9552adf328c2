//! Trying whether somebody can be told.

use super::about;
use super::confirmation::{Asking, ask};
use crate::{App, Error, InstanceAccess, Result, audit};
use model::{AccountId, Notification, Recipient, RecipientId, SignedDuration};
use store::send_counts::{self, Limit};
use store::{Work, notifications, recipients};

const HOUR: SignedDuration = SignedDuration::from_hours(1);

/// What a test has set off.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Tested {
    /// What becomes of it is the recipient's last status.
    Sent,
    /// The recipient has not confirmed yet, and gets a link instead.
    LinkSent,
}

/// Puts a test on its way. It takes the place of one that is still tried: whoever asks
/// again has mended something meanwhile. `None` stands for a path segment that is no id.
pub async fn test(
    access: &InstanceAccess,
    app: &App,
    recipient: Option<RecipientId>,
) -> Result<Tested> {
    access.may_change()?;
    let (instance, now) = (&access.instance, app.now());
    let recipient = recipient.ok_or(Error::NotFound)?;
    let mut work = app.store().begin().await?;
    let found = recipients::find(&mut work, instance.id, recipient).await?;
    let found = found.ok_or(Error::NotFound)?;
    count(&mut work, app, instance.account_id, &found).await?;
    let of = (instance.account_id, instance.id);
    let tested = match ask(&mut work, app, of, &found).await? {
        Asking::Waiting(sentence) => return Err(Error::Refused(sentence)),
        Asking::Sent => Tested::LinkSent,
        Asking::NotNeeded => {
            notifications::withdraw_test(&mut work, instance.id, recipient).await?;
            let id = app.entropy().uuid();
            let notification = Notification::test(id, instance.id, instance.name.as_str());
            notifications::insert(&mut work, &found, notification, now).await?;
            Tested::Sent
        }
    };
    let asker = access.asker(&mut work).await?;
    let extras = about(instance, recipient, found.kind, &found.name);
    audit::write(&mut work, &asker, now, "recipient.test", &extras).await?;
    work.commit().await?;
    Ok(tested)
}

async fn count(
    work: &mut Work,
    app: &App,
    account: AccountId,
    recipient: &Recipient,
) -> Result<()> {
    const WHAT: &str = "tests";
    let (most, now) = (&app.settings.messages, app.now());
    let limits = [
        Limit::of_account(WHAT, account, most.tests_per_account_per_hour, HOUR),
        Limit::of_destination(WHAT, recipient, most.tests_per_destination_per_hour, HOUR),
    ];
    match send_counts::spend(work, &limits, now).await? {
        None => Ok(()),
        Some(exceeded) => Err(Error::too_many(now, exceeded.until)),
    }
}
