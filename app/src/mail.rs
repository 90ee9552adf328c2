//! Mails that use cases put into the outbox, and the limit of those that their
//! receivers did not ask for.

use crate::{App, Result};
use model::{AccountId, Mail, RecipientType, Secret, SignedDuration};
use store::send_counts::{self, Exceeded, Limit};
use store::{NewMessage, Work};

/// The kind of messages whose body is a [`Mail`].
const KIND: &str = "mail";
/// How long a mail server may be away.
const LIFE: SignedDuration = SignedDuration::from_hours(24);
const HOUR: SignedDuration = SignedDuration::from_hours(1);
const DAY: SignedDuration = SignedDuration::from_hours(24);

/// A mail for the outbox. `about` is what it is taken back by.
pub(crate) fn message(about: String, mail: &Mail) -> NewMessage {
    let body = serde_json::to_string(mail).expect("plain data serialises");
    NewMessage {
        kind: KIND,
        about,
        body: Secret::new(body),
        life: LIFE,
        lane: None,
        instance: None,
        // Alarms by mail go to the same server.
        destination: RecipientType::Email.to_string(),
        incident: None,
    }
}

/// A name that somebody chose, without what would break a line of a mail.
pub(crate) fn in_one_line(name: &str) -> String {
    name.chars().filter(|c| !c.is_control()).collect()
}

/// Counts a mail that its receiver did not ask for: an invitation, or one with a link
/// to confirm. Not counted if a limit is reached.
pub(crate) async fn count_unrequested(
    work: &mut Work,
    app: &App,
    account: AccountId,
    email: &str,
) -> Result<Option<Exceeded>> {
    const WHAT: &str = "unrequested";
    let an_hour = app.settings.invitations_per_hour;
    let a_day = app.settings.messages.unrequested_mails_per_mailbox_per_day;
    let limits = [
        Limit::of_account(WHAT, account, an_hour, HOUR),
        Limit::of_mailbox(WHAT, email, a_day, DAY),
    ];
    Ok(send_counts::spend(work, &limits, app.now()).await?)
}
