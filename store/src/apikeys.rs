//! Customer keys, found by their hash.

use crate::db::{Query, Row, Run, json};
use crate::{Result, Work, hash_key};
use model::{ApiKey, Secret};

pub async fn insert(work: &mut Work, key: &ApiKey, secret: &Secret) -> Result<()> {
    let query = Query::new(
        "INSERT INTO apikeys (id, user_id, hash, role, tags, comment, created_at) \
         VALUES ($1, $2, $3, $4, $5, $6, $7)",
    )
    .bind(key.id.to_string())
    .bind(key.user_id.to_string())
    .bind(hash_key(secret))
    .bind(key.role.as_str())
    .bind(json(&key.tags))
    .bind(key.comment.as_str())
    .bind(key.created_at);
    work.execute(query).await.map(drop)
}

pub async fn find(run: &mut impl Run, secret: &Secret) -> Result<Option<ApiKey>> {
    let query = Query::new("SELECT * FROM apikeys WHERE hash = $1").bind(hash_key(secret));
    run.fetch_one(query).await?.map(|row| apikey(&row)).transpose()
}

fn apikey(row: &Row) -> Result<ApiKey> {
    Ok(ApiKey {
        id: row.parse("id")?,
        user_id: row.parse("user_id")?,
        role: row.parse("role")?,
        tags: row.json("tags")?,
        comment: row.text("comment")?,
        created_at: row.time("created_at")?,
    })
}
