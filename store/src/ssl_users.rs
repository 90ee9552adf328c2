//! Users who come by certificate. Kafka holds their rights and nothing else.

use crate::db::{Query, Run};
use crate::{Result, Work};
use model::{InstanceId, Timestamp, UserName};

/// By name.
pub async fn list(run: &mut impl Run, instance: InstanceId) -> Result<Vec<String>> {
    let query = Query::new("SELECT name FROM ssl_users WHERE instance_id = $1 ORDER BY name");
    run.fetch(query.bind(instance.0)).await?.iter().map(|row| row.text("name")).collect()
}

/// False if there is one of that name.
pub async fn insert(
    work: &mut Work,
    instance: InstanceId,
    name: &UserName,
    now: Timestamp,
) -> Result<bool> {
    let query = Query::new(
        "INSERT INTO ssl_users (instance_id, name, created_at) VALUES ($1, $2, $3) \
         ON CONFLICT (instance_id, name) DO NOTHING",
    )
    .bind(instance.0)
    .bind(name.as_str())
    .bind(now);
    Ok(work.execute(query).await? == 1)
}

/// False if there was none of that name.
pub async fn remove(work: &mut Work, instance: InstanceId, name: &UserName) -> Result<bool> {
    let query = Query::new("DELETE FROM ssl_users WHERE instance_id = $1 AND name = $2")
        .bind(instance.0)
        .bind(name.as_str());
    Ok(work.execute(query).await? == 1)
}

/// With the instance.
pub(crate) async fn remove_all(work: &mut Work, instance: InstanceId) -> Result<()> {
    work.execute(Query::new("DELETE FROM ssl_users WHERE instance_id = $1").bind(instance.0))
        .await
        .map(drop)
}
