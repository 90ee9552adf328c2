//! Which e-mail addresses an account may send alarms to.
//!
//! Addresses of the team may get them by nature. Any other address gets one mail
//! with a link, and alarms once its owner has used it. That is kept by account and
//! address, so deleting and creating a recipient sends no second mail. The owner of
//! an address can also refuse all mail of this installation.

use crate::db::{Query, Row, Run};
use crate::{Result, Work, accounts, hash_key, users};
use model::{AccountId, MailStanding, Secret, SignedDuration, Timestamp, email_key, mailbox_key};

/// An address that is no recipient of its account any more is forgotten that long
/// after it was asked.
const KEPT: SignedDuration = SignedDuration::from_hours(24 * 30);

/// The question that a link belongs to.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Consent {
    pub account_id: AccountId,
    /// In lower case.
    pub email: String,
    pub confirmed_at: Option<Timestamp>,
}

pub async fn standing(run: &mut impl Run, account: AccountId, email: &str) -> Result<MailStanding> {
    let key = email_key(email);
    let own = accounts::find(run, account).await?;
    if own.is_some_and(|own| email_key(&own.email) == key)
        || users::find_by_email(run, account, email).await?.is_some()
    {
        return Ok(MailStanding::Team);
    }
    if is_blocked(run, email).await? {
        return Ok(MailStanding::Blocked);
    }
    let query = Query::new("SELECT * FROM mail_consents WHERE account_id = $1 AND email_key = $2")
        .bind(account.to_string())
        .bind(key);
    let Some(row) = run.fetch_one(query).await? else { return Ok(MailStanding::Unasked) };
    if row.time_or_none("confirmed_at")?.is_some() {
        return Ok(MailStanding::Confirmed);
    }
    Ok(MailStanding::Asked(row.time("asked_at")?))
}

/// Notes that a mail with that link is written. An earlier link stops working.
pub async fn ask(
    work: &mut Work,
    account: AccountId,
    email: &str,
    token: &Secret,
    now: Timestamp,
) -> Result<()> {
    forget_unused(work, now - KEPT).await?;
    let query = Query::new(
        "INSERT INTO mail_consents (account_id, email_key, token_hash, asked_at) \
         VALUES ($1, $2, $3, $4) \
         ON CONFLICT (account_id, email_key) DO UPDATE SET token_hash = $3, asked_at = $4",
    )
    .bind(account.to_string())
    .bind(email_key(email))
    .bind(hash_key(token))
    .bind(now);
    work.execute(query).await.map(drop)
}

/// The link of an address whose owner wants no mail stays: it is how they change their mind.
async fn forget_unused(work: &mut Work, before: Timestamp) -> Result<()> {
    let query = Query::new(
        "SELECT * FROM mail_consents WHERE asked_at <= $1 AND NOT EXISTS \
         (SELECT 1 FROM recipients JOIN instances ON instances.id = recipients.instance_id \
         WHERE instances.account_id = mail_consents.account_id AND recipients.type = 'email' \
         AND LOWER(recipients.value) = mail_consents.email_key)",
    );
    for row in &work.fetch(query.bind(before)).await? {
        let unused = consent(row)?;
        if !is_blocked(work, &unused.email).await? {
            let query =
                Query::new("DELETE FROM mail_consents WHERE account_id = $1 AND email_key = $2");
            work.execute(query.bind(unused.account_id.to_string()).bind(unused.email)).await?;
        }
    }
    Ok(())
}

/// What a link asks; none for a link that never was or was replaced.
pub async fn find(run: &mut impl Run, token: &Secret) -> Result<Option<Consent>> {
    let query =
        Query::new("SELECT * FROM mail_consents WHERE token_hash = $1").bind(hash_key(token));
    run.fetch_one(query).await?.map(|row| consent(&row)).transpose()
}

/// The owner of the address agrees, which also ends a refusal of theirs.
pub async fn confirm(work: &mut Work, consent: &Consent, now: Timestamp) -> Result<()> {
    let unblock = Query::new("DELETE FROM mail_blocks WHERE mailbox_hash = $1");
    work.execute(unblock.bind(mailbox_hash(&consent.email))).await?;
    set_confirmed(work, consent, Some(now)).await
}

/// The owner of the address wants no mail from this installation, whichever account
/// asks. The link stays: it is how they can change their mind.
pub async fn block(work: &mut Work, consent: &Consent, now: Timestamp) -> Result<()> {
    let query = Query::new(
        "INSERT INTO mail_blocks (mailbox_hash, blocked_at) VALUES ($1, $2) \
         ON CONFLICT (mailbox_hash) DO NOTHING",
    )
    .bind(mailbox_hash(&consent.email))
    .bind(now);
    work.execute(query).await?;
    set_confirmed(work, consent, None).await
}

async fn set_confirmed(work: &mut Work, consent: &Consent, at: Option<Timestamp>) -> Result<()> {
    let query = Query::new(
        "UPDATE mail_consents SET confirmed_at = $3 WHERE account_id = $1 AND email_key = $2",
    )
    .bind(consent.account_id.to_string())
    .bind(consent.email.as_str())
    .bind(at);
    work.execute(query).await.map(drop)
}

pub async fn is_blocked(run: &mut impl Run, email: &str) -> Result<bool> {
    let query = Query::new("SELECT blocked_at FROM mail_blocks WHERE mailbox_hash = $1");
    Ok(run.fetch_one(query.bind(mailbox_hash(email))).await?.is_some())
}

fn mailbox_hash(email: &str) -> String {
    hash_key(&Secret::new(mailbox_key(email)))
}

fn consent(row: &Row) -> Result<Consent> {
    Ok(Consent {
        account_id: row.parse("account_id")?,
        email: row.text("email_key")?,
        confirmed_at: row.time_or_none("confirmed_at")?,
    })
}
