//! Whom an instance's alarms are told to.
//!
//! Values and options are keys to other people's services and are sealed; an
//! e-mail address opens nothing and stands in the clear. One that can't be opened
//! is read as a recipient without a value, so that it is seen and can be put right,
//! and the others are told.

use crate::db::{Query, Row, Run, json};
use crate::{Error, Result, SealError, Work, notifications};
use model::{
    AccountId, InstanceId, LastStatus, Recipient, RecipientId, RecipientOptions, RecipientType,
    Secret, email_key,
};

/// A recipient that has no id yet.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NewRecipient {
    pub kind: RecipientType,
    pub value: Secret,
    pub name: String,
    pub options: RecipientOptions,
}

fn place(instance: InstanceId, id: RecipientId, what: &str) -> String {
    format!("instances/{instance}/recipients/{id}/{what}")
}

/// Writes it under the next id.
pub async fn insert(
    work: &mut Work,
    instance: InstanceId,
    new: &NewRecipient,
) -> Result<RecipientId> {
    let next = Query::new(
        "UPDATE instances SET last_recipient = last_recipient + 1 WHERE id = $1 \
         RETURNING last_recipient",
    );
    let row = work.fetch_one(next.bind(instance.0)).await?;
    let row = row.ok_or(Error::Corrupt { what: "instances", value: instance.to_string() })?;
    let id = RecipientId(row.int("last_recipient")?);
    let query = Query::new(
        "INSERT INTO recipients (instance_id, id, type, value, name, options_sealed, updated) \
         VALUES ($1, $2, $3, $4, $5, $6, FALSE)",
    )
    .bind(instance.0)
    .bind(id.0)
    .bind(new.kind.as_str())
    .bind(value(work, instance, id, new))
    .bind(new.name.as_str())
    .bind(options(work, instance, id, new));
    work.execute(query).await?;
    Ok(id)
}

/// False if there is none.
pub async fn update(
    work: &mut Work,
    instance: InstanceId,
    id: RecipientId,
    new: &NewRecipient,
) -> Result<bool> {
    let query = Query::new(
        "UPDATE recipients SET type = $3, value = $4, name = $5, options_sealed = $6, \
         updated = TRUE WHERE instance_id = $1 AND id = $2",
    )
    .bind(instance.0)
    .bind(id.0)
    .bind(new.kind.as_str())
    .bind(value(work, instance, id, new))
    .bind(new.name.as_str())
    .bind(options(work, instance, id, new));
    Ok(work.execute(query).await? == 1)
}

/// All of an instance, by id.
pub async fn list(run: &mut impl Run, instance: InstanceId) -> Result<Vec<Recipient>> {
    let query = Query::new("SELECT * FROM recipients WHERE instance_id = $1 ORDER BY id");
    let rows = run.fetch(query.bind(instance.0)).await?;
    rows.iter().map(|row| recipient(run, instance, row)).collect()
}

pub async fn find(
    run: &mut impl Run,
    instance: InstanceId,
    id: RecipientId,
) -> Result<Option<Recipient>> {
    let query = Query::new("SELECT * FROM recipients WHERE instance_id = $1 AND id = $2")
        .bind(instance.0)
        .bind(id.0);
    let row = run.fetch_one(query).await?;
    row.map(|row| recipient(run, instance, &row)).transpose()
}

/// The recipients of an account with that e-mail, in whatever case it is written.
pub async fn find_by_email(
    run: &mut impl Run,
    account: AccountId,
    email: &str,
) -> Result<Vec<(InstanceId, RecipientId)>> {
    let query = Query::new(
        "SELECT recipients.instance_id AS instance_id, recipients.id AS id FROM recipients \
         JOIN instances ON instances.id = recipients.instance_id \
         WHERE instances.account_id = $1 AND instances.deleted_at IS NULL \
         AND recipients.type = 'email' AND LOWER(recipients.value) = $2 \
         ORDER BY recipients.instance_id, recipients.id",
    )
    .bind(account.to_string())
    .bind(email_key(email));
    let rows = run.fetch(query).await?;
    let pair = |row: &Row| Ok((InstanceId(row.int("instance_id")?), RecipientId(row.int("id")?)));
    rows.iter().map(pair).collect()
}

/// Nothing is known of the address that a recipient has now.
pub async fn forget_last_status(
    work: &mut Work,
    instance: InstanceId,
    id: RecipientId,
) -> Result<()> {
    let query =
        Query::new("UPDATE recipients SET last_status = NULL WHERE instance_id = $1 AND id = $2")
            .bind(instance.0)
            .bind(id.0);
    work.execute(query).await.map(drop)
}

/// How telling them went. Nothing if they are gone.
pub async fn set_last_status(
    work: &mut Work,
    instance: InstanceId,
    id: RecipientId,
    status: &LastStatus,
) -> Result<()> {
    let query =
        Query::new("UPDATE recipients SET last_status = $3 WHERE instance_id = $1 AND id = $2")
            .bind(instance.0)
            .bind(id.0)
            .bind(json(status));
    work.execute(query).await.map(drop)
}

/// False if there is none. The alarms' lists are another matter.
pub async fn delete(work: &mut Work, instance: InstanceId, id: RecipientId) -> Result<bool> {
    let query = Query::new("DELETE FROM recipients WHERE instance_id = $1 AND id = $2")
        .bind(instance.0)
        .bind(id.0);
    Ok(work.execute(query).await? == 1)
}

/// With the instance. What waits for them is still told.
pub(crate) async fn remove(work: &mut Work, instance: InstanceId) -> Result<()> {
    notifications::keep_addresses(work, instance).await?;
    let query = Query::new("DELETE FROM recipients WHERE instance_id = $1").bind(instance.0);
    work.execute(query).await.map(drop)
}

fn value(work: &Work, instance: InstanceId, id: RecipientId, new: &NewRecipient) -> String {
    match new.kind {
        RecipientType::Email => new.value.expose().to_owned(),
        _ => work.master_key().seal(&place(instance, id, "value"), &new.value),
    }
}

fn options(
    work: &Work,
    instance: InstanceId,
    id: RecipientId,
    new: &NewRecipient,
) -> Option<String> {
    if new.options == RecipientOptions::default() {
        return None;
    }
    let text = serde_json::to_string(&new.options).expect("plain data serialises");
    Some(work.master_key().seal(&place(instance, id, "options"), &Secret::new(text)))
}

fn recipient(run: &impl Run, instance: InstanceId, row: &Row) -> Result<Recipient> {
    let id = RecipientId(row.int("id")?);
    let kind = row.parse("type")?;
    let value = row.text("value")?;
    let options = row.text_or_none("options_sealed")?;
    let opened = opened(run, instance, id, kind, &value, options.as_deref());
    let (value, options) =
        opened.unwrap_or_else(|_| (Secret::new(""), RecipientOptions::default()));
    let last_status = match row.text_or_none("last_status")? {
        None => None,
        Some(_) => Some(row.json("last_status")?),
    };
    Ok(Recipient {
        id,
        kind,
        value,
        name: row.text("name")?,
        options,
        updated: row.flag("updated")?,
        last_status,
    })
}

/// Both or neither: without its options one might tell somebody else.
fn opened(
    run: &impl Run,
    instance: InstanceId,
    id: RecipientId,
    kind: RecipientType,
    value: &str,
    options: Option<&str>,
) -> std::result::Result<(Secret, RecipientOptions), SealError> {
    let open = |what, sealed: &str| run.master_key().open(&place(instance, id, what), sealed);
    let value = match kind {
        RecipientType::Email => Secret::new(value),
        _ => open("value", value)?,
    };
    let options = match options {
        None => RecipientOptions::default(),
        Some(sealed) => serde_json::from_str(open("options", sealed)?.expose())
            .map_err(|_| SealError::Broken)?,
    };
    Ok((value, options))
}
