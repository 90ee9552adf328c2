//! Reading the store before a restore, in whichever database it is and without changing it.

use super::{Access, Past, Signed, integrations};
use crate::Result;
use crate::db::{Query, Row};
use model::ServerId;
use sqlx::postgres::PgConnection;
use sqlx::sqlite::SqliteConnection;
use std::collections::BTreeMap;

pub(super) enum Before {
    Sqlite(SqliteConnection),
    Postgres(PgConnection),
}

impl Before {
    pub async fn fetch(&mut self, query: Query) -> Result<Vec<Row>> {
        Ok(match self {
            Self::Sqlite(connection) => {
                let rows = query.sqlite().fetch_all(connection).await?;
                rows.into_iter().map(Row::Sqlite).collect()
            }
            Self::Postgres(connection) => {
                let rows = query.postgres().fetch_all(connection).await?;
                rows.into_iter().map(Row::Postgres).collect()
            }
        })
    }

    pub async fn past(&mut self) -> Result<Past> {
        let mut past = Past::default();
        let query = Query::new("SELECT id, store_epoch, master_key_id FROM installation");
        for row in self.fetch(query).await? {
            past.installation = Some(row.text("id")?);
            past.store_epoch = row.int("store_epoch")?;
            past.access = Some(Access::read(self, row.text("master_key_id")?).await?);
        }
        for row in self.fetch(Query::new("SELECT name, value FROM sequences")).await? {
            past.note(&row.text("name")?, row.int("value")?);
        }
        past.node_ids = self.node_ids().await?;
        past.last_integrations = integrations::read_last_ids(self).await?;
        past.integrations = integrations::read(self).await?;
        let query = Query::new("SELECT instance_id, quotas FROM slowed_quotas");
        for row in self.fetch(query).await? {
            past.slowed.insert(row.int("instance_id")?, row.text("quotas")?);
        }
        let query = Query::new(
            "SELECT instance_id, serial, cn, issued_at, expires_at, revoked_at FROM certificates",
        );
        let rows = self.fetch(query).await?;
        past.certificates = rows.iter().map(signed).collect::<Result<_>>()?;
        for row in self.fetch(Query::new("SELECT id, incarnation FROM servers")).await? {
            past.incarnations.insert(ServerId(row.int("id")?), row.int("incarnation")?);
        }
        past.mail_blocks = self.mail_blocks().await?;
        Ok(past)
    }

    /// A store of an earlier release gave them to servers alone, which it never removed
    /// before their instance.
    async fn node_ids(&mut self) -> Result<BTreeMap<i64, i64>> {
        let mut given =
            vec!["SELECT instance_id, MAX(node_id) AS last FROM servers GROUP BY instance_id"];
        if self.instances_have("last_node_id").await? {
            given.push("SELECT id AS instance_id, last_node_id AS last FROM instances");
        }
        let mut highest: BTreeMap<i64, i64> = BTreeMap::new();
        for query in given {
            for row in self.fetch(Query::new(query)).await? {
                let known = highest.entry(row.int("instance_id")?).or_default();
                *known = row.int("last")?.max(*known);
            }
        }
        Ok(highest)
    }

    pub(super) async fn instances_have(&mut self, column: &str) -> Result<bool> {
        let query = match self {
            Self::Sqlite(_) => "SELECT name FROM pragma_table_info('instances') WHERE name = $1",
            Self::Postgres(_) => {
                "SELECT column_name FROM information_schema.columns \
                 WHERE table_schema = current_schema() AND table_name = 'instances' \
                 AND column_name = $1"
            }
        };
        Ok(!self.fetch(Query::new(query).bind(column)).await?.is_empty())
    }

    /// A store of an earlier release lacks some.
    pub(super) async fn has_table(&mut self, name: &str) -> Result<bool> {
        let query = match self {
            Self::Sqlite(_) => "SELECT name FROM sqlite_master WHERE type = 'table' AND name = $1",
            Self::Postgres(_) => {
                "SELECT tablename::text FROM pg_tables \
                 WHERE schemaname = current_schema() AND tablename = $1"
            }
        };
        Ok(!self.fetch(Query::new(query).bind(name)).await?.is_empty())
    }

    async fn mail_blocks(&mut self) -> Result<Vec<(String, i64)>> {
        if !self.has_table("mail_blocks").await? {
            return Ok(Vec::new());
        }
        let query = Query::new("SELECT mailbox_hash, blocked_at FROM mail_blocks");
        let rows = self.fetch(query).await?;
        rows.iter().map(|row| Ok((row.text("mailbox_hash")?, row.int("blocked_at")?))).collect()
    }
}

fn signed(row: &Row) -> Result<Signed> {
    Ok(Signed {
        instance_id: row.int("instance_id")?,
        serial: row.text("serial")?,
        cn: row.text("cn")?,
        issued_at: row.int("issued_at")?,
        expires_at: row.int("expires_at")?,
        revoked_at: row.int_or_none("revoked_at")?,
    })
}
