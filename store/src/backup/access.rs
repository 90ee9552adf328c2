//! Who may do what after a restore. A key, a user or a right that was taken away since the
//! backup stays away: the store before the restore says who may do what, and where that
//! can't be read, no key of the backup is good but those that the operator names.

use super::before::Before;
use crate::db::{Query, Row, Run as _, Value};
use crate::{Result, SealError, Work, accounts, apikeys, instances, invitations, outbox, users};
use model::{ApiKey, Entropy, InstanceId, InvitationId, KeyId, User};
use std::collections::BTreeSet;

/// The rows of the store before that let somebody in, by table.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Access {
    /// What the secrets of instances are sealed with.
    master_key_id: String,
    users: Vec<Vec<Value>>,
    keys: Vec<Vec<Value>>,
    invitations: Vec<Vec<Value>>,
    instances: Vec<Vec<Value>>,
    second_factors: Vec<Vec<Value>>,
    recovery_codes: Vec<Vec<Value>>,
}

/// A key of the backup that is good no more.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DroppedKey {
    pub key: ApiKey,
    pub user: User,
}

/// What of a backup is good no more.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Dropped {
    pub keys: Vec<DroppedKey>,
    pub users: usize,
    pub invitations: usize,
    /// Instances whose own key is a new one.
    pub instances: usize,
}

/// Columns that are read and written as they are, and how a row of them is written.
struct Table {
    read: &'static str,
    columns: &'static [(&'static str, Kind)],
    write: &'static str,
}

#[derive(Clone, Copy)]
enum Kind {
    Text,
    Int,
    Flag,
}
use Kind::{Flag, Int, Text};

const USERS: Table = Table {
    read: "SELECT * FROM users ORDER BY id",
    columns: &[
        ("id", Text),
        ("account_id", Text),
        ("email", Text),
        ("email_key", Text),
        ("name", Text),
        ("role", Text),
        ("tags", Text),
        ("password_hash", Text),
        ("tfa_enabled", Flag),
        ("created_at", Int),
    ],
    write: "INSERT INTO users (id, account_id, email, email_key, name, role, tags, \
            password_hash, tfa_enabled, created_at) \
            VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) \
            ON CONFLICT (id) DO UPDATE SET email = $3, email_key = $4, name = $5, role = $6, \
            tags = $7, password_hash = $8, tfa_enabled = $9",
};

const KEYS: Table = Table {
    read: "SELECT * FROM apikeys ORDER BY id",
    columns: &[
        ("id", Text),
        ("user_id", Text),
        ("hash", Text),
        ("role", Text),
        ("tags", Text),
        ("comment", Text),
        ("created_at", Int),
        ("last_used_at", Int),
        ("last_used_from", Text),
        ("expires_at", Int),
    ],
    write: "INSERT INTO apikeys (id, user_id, hash, role, tags, comment, created_at, \
            last_used_at, last_used_from, expires_at) \
            VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) \
            ON CONFLICT (id) DO UPDATE SET hash = $3, role = $4, tags = $5, comment = $6, \
            last_used_at = $8, last_used_from = $9, expires_at = $10",
};

const INVITATIONS: Table = Table {
    read: "SELECT * FROM invitations ORDER BY id",
    columns: &[
        ("id", Text),
        ("account_id", Text),
        ("email", Text),
        ("email_key", Text),
        ("role", Text),
        ("tags", Text),
        ("token_hash", Text),
        ("created_at", Int),
        ("expires_at", Int),
    ],
    write: "INSERT INTO invitations (id, account_id, email, email_key, role, tags, token_hash, \
            created_at, expires_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) \
            ON CONFLICT (id) DO UPDATE SET role = $5, tags = $6, token_hash = $7, \
            expires_at = $9",
};

/// Their secrets are sealed for their row, and the master key is the same.
const INSTANCES: Table = Table {
    read: "SELECT * FROM instances WHERE deleted_at IS NULL ORDER BY id",
    columns: &[
        ("id", Int),
        ("apikey_sealed", Text),
        ("apikey_hash", Text),
        ("password_sealed", Text),
        // They decide who sees the instance.
        ("tags", Text),
    ],
    write: "UPDATE instances SET apikey_sealed = $2, apikey_hash = $3, password_sealed = $4, \
            tags = $5 WHERE id = $1",
};

/// Sealed for their row. The second column is whose they are, as in the others.
const SECOND_FACTORS: Table = Table {
    read: "SELECT * FROM second_factors ORDER BY user_id",
    columns: &[("secret_sealed", Text), ("user_id", Text), ("last_step", Int)],
    write: "INSERT INTO second_factors (secret_sealed, user_id, last_step) VALUES ($1, $2, $3)",
};

const RECOVERY_CODES: Table = Table {
    read: "SELECT * FROM recovery_codes ORDER BY user_id",
    columns: &[("code_hash", Text), ("user_id", Text)],
    write: "INSERT INTO recovery_codes (code_hash, user_id) VALUES ($1, $2)",
};

impl Access {
    pub(super) async fn read(store: &mut Before, master_key_id: String) -> Result<Self> {
        Ok(Self {
            master_key_id,
            users: USERS.rows(store).await?,
            keys: KEYS.rows(store).await?,
            invitations: INVITATIONS.rows(store).await?,
            instances: INSTANCES.rows(store).await?,
            second_factors: SECOND_FACTORS.rows_if_there(store, "second_factors").await?,
            recovery_codes: RECOVERY_CODES.rows_if_there(store, "recovery_codes").await?,
        })
    }

    /// Fails if its secrets can't be opened with the master key of the restored store.
    fn check_seal(&self, work: &Work) -> Result<()> {
        let given = work.master_key().id();
        if self.master_key_id == given {
            return Ok(());
        }
        let (sealed, given) = (self.master_key_id.clone(), given.to_owned());
        Err(SealError::OtherKey { sealed, given }.into())
    }

    /// Has users, roles, second factors, keys, invitations, and the keys and passwords of
    /// instances be as in the store before. `keep` names keys of the backup that stay all the
    /// same, unless their user is gone.
    pub async fn take_over(
        &self,
        work: &mut Work,
        keep: &BTreeSet<KeyId>,
        entropy: &dyn Entropy,
    ) -> Result<Dropped> {
        self.check_seal(work)?;
        let mut dropped = Dropped::default();
        let (present, mut known) = (ids(&self.users), BTreeSet::new());
        let (keys, invited) = (ids(&self.keys), ids(&self.invitations));
        for user in all_users(work).await? {
            let is_gone = !present.contains(user.id.to_string().as_str());
            for key in apikeys::list(work, user.id).await? {
                let is_there = keys.contains(key.id.to_string().as_str());
                if is_gone || !(is_there || keep.contains(&key.id)) {
                    apikeys::remove(work, key.id).await?;
                    dropped.keys.push(DroppedKey { key, user: user.clone() });
                }
            }
            if is_gone {
                users::remove(work, user.id).await?;
                dropped.users += 1;
            }
        }
        dropped.invitations = withdraw_invitations(work, &invited).await?;
        for account in accounts::list(work).await? {
            known.insert(account.id.to_string());
        }
        write_known(work, &USERS, &self.users, &known).await?;
        write_known(work, &INVITATIONS, &self.invitations, &known).await?;
        let users: BTreeSet<String> =
            all_users(work).await?.iter().map(|user| user.id.to_string()).collect();
        write_known(work, &KEYS, &self.keys, &users).await?;
        // A recovery code that was used since is good no more, nor is a phone that was lost.
        for query in ["DELETE FROM recovery_codes", "DELETE FROM second_factors"] {
            work.execute(Query::new(query)).await?;
        }
        write_known(work, &SECOND_FACTORS, &self.second_factors, &users).await?;
        write_known(work, &RECOVERY_CODES, &self.recovery_codes, &users).await?;

        let mut here = instances_here(work).await?;
        for row in &self.instances {
            work.execute(INSTANCES.written(row)).await?;
            if let Some(Value::Int(Some(id))) = row.first() {
                here.remove(&InstanceId(*id));
            }
        }
        dropped.instances = replace_keys(work, &here, entropy).await?;
        Ok(dropped)
    }
}

/// Has no key of a backup be good but those named, and no invitation. Every instance gets
/// a new key of its own. For where nothing says what was taken away since.
pub async fn drop_access(
    work: &mut Work,
    keep: &BTreeSet<KeyId>,
    entropy: &dyn Entropy,
) -> Result<Dropped> {
    let mut dropped = Dropped::default();
    for user in all_users(work).await? {
        for key in apikeys::list(work, user.id).await? {
            if !keep.contains(&key.id) {
                apikeys::remove(work, key.id).await?;
                dropped.keys.push(DroppedKey { key, user: user.clone() });
            }
        }
    }
    dropped.invitations = withdraw_invitations(work, &BTreeSet::new()).await?;
    let here = instances_here(work).await?;
    dropped.instances = replace_keys(work, &here, entropy).await?;
    Ok(dropped)
}

impl Table {
    async fn rows(&self, store: &mut Before) -> Result<Vec<Vec<Value>>> {
        let rows = store.fetch(Query::new(self.read)).await?;
        let values = |row: &Row| -> Result<Vec<Value>> {
            self.columns.iter().map(|column| value(row, *column)).collect()
        };
        rows.iter().map(values).collect()
    }

    async fn rows_if_there(&self, store: &mut Before, table: &str) -> Result<Vec<Vec<Value>>> {
        if store.has_table(table).await? { self.rows(store).await } else { Ok(Vec::new()) }
    }

    fn written(&self, row: &[Value]) -> Query {
        row.iter().fold(Query::new(self.write), |query, value| query.bind(value.clone()))
    }
}

/// A column that a store of an earlier release lacks is empty.
fn value(row: &Row, (column, kind): (&str, Kind)) -> Result<Value> {
    let is_there = row.has(column);
    Ok(match kind {
        Text if is_there => Value::Text(row.text_or_none(column)?),
        Int if is_there => Value::Int(row.int_or_none(column)?),
        Flag if is_there => Value::Bool(row.flag(column)?),
        Text => Value::Text(None),
        Int => Value::Int(None),
        Flag => Value::Bool(false),
    })
}

/// Of rows that begin with one.
fn ids(rows: &[Vec<Value>]) -> BTreeSet<&str> {
    rows.iter().filter_map(|row| text(row, 0)).collect()
}

fn text(row: &[Value], column: usize) -> Option<&str> {
    match row.get(column) {
        Some(Value::Text(Some(text))) => Some(text),
        _ => None,
    }
}

/// Those whose second column, what they belong to, is known here.
async fn write_known(
    work: &mut Work,
    table: &Table,
    rows: &[Vec<Value>],
    known: &BTreeSet<String>,
) -> Result<()> {
    for row in rows.iter().filter(|row| text(row, 1).is_some_and(|of| known.contains(of))) {
        work.execute(table.written(row)).await?;
    }
    Ok(())
}

async fn all_users(work: &mut Work) -> Result<Vec<User>> {
    let mut all = Vec::new();
    for account in accounts::list(work).await? {
        all.extend(users::list(work, account.id).await?);
    }
    Ok(all)
}

/// Takes back those that are not named, with their mails.
async fn withdraw_invitations(work: &mut Work, but: &BTreeSet<&str>) -> Result<usize> {
    let rows = work.fetch(Query::new("SELECT id FROM invitations")).await?;
    let mut count = 0;
    for row in rows {
        let id: InvitationId = row.parse("id")?;
        if !but.contains(id.to_string().as_str()) {
            invitations::remove(work, id).await?;
            outbox::withdraw(work, &format!("invitations/{id}")).await?;
            count += 1;
        }
    }
    Ok(count)
}

async fn instances_here(work: &mut Work) -> Result<BTreeSet<InstanceId>> {
    let rows = work.fetch(Query::new("SELECT id FROM instances WHERE deleted_at IS NULL")).await?;
    rows.iter().map(|row| Ok(InstanceId(row.int("id")?))).collect()
}

async fn replace_keys(
    work: &mut Work,
    of: &BTreeSet<InstanceId>,
    entropy: &dyn Entropy,
) -> Result<usize> {
    for id in of {
        instances::set_apikey(work, *id, &entropy.key()).await?;
    }
    Ok(of.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_store_of_an_earlier_release_lacks_columns() {
        let directory = tempfile::tempdir().unwrap();
        let db = crate::sqlite::open(&directory.path().join("test.db")).await.unwrap();
        let query = Query::new("SELECT 'k' AS id, 'c' AS comment, 7 AS created_at");
        let row = db.fetch(query).await.unwrap().remove(0);
        let check = |column, kind, expected| {
            assert_eq!(value(&row, (column, kind)).unwrap(), expected, "{column}");
        };
        check("comment", Text, Value::Text(Some("c".into())));
        check("last_used_from", Text, Value::Text(None));
        check("created_at", Int, Value::Int(Some(7)));
        check("expires_at", Int, Value::Int(None));
        check("tfa_enabled", Flag, Value::Bool(false));
    }

    /// A column that is added to one of these tables has to be thought of here.
    #[tokio::test]
    async fn every_column_of_a_table_is_taken_over() {
        let directory = tempfile::tempdir().unwrap();
        let db = crate::sqlite::open(&directory.path().join("test.db")).await.unwrap();
        for (name, table) in [
            ("users", USERS),
            ("apikeys", KEYS),
            ("invitations", INVITATIONS),
            ("second_factors", SECOND_FACTORS),
            ("recovery_codes", RECOVERY_CODES),
        ] {
            let query = Query::new("SELECT name FROM pragma_table_info($1)").bind(name);
            let rows = db.fetch(query).await.unwrap();
            let there: BTreeSet<String> = rows.iter().map(|it| it.text("name").unwrap()).collect();
            let taken = table.columns.iter().map(|(column, _)| (*column).to_owned()).collect();
            assert_eq!(there, taken, "{name}");
        }
    }
}
