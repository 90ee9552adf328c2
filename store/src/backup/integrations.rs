//! Where logs and metrics are sent after a restore. A destination that was removed since the
//! backup stays removed, and settings that were replaced since are not those of the backup:
//! the store before the restore says what there is. Where that can't be read, nothing does,
//! and integrations are as in the backup.

use super::Past;
use super::before::Before;
use crate::db::{Query, Row, Run as _};
use crate::{Result, Work, integrations};
use model::{InstanceId, IntegrationId};
use std::collections::{BTreeMap, BTreeSet};

/// What the store before knew of one integration.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct KnownIntegration {
    instance_id: i64,
    id: i64,
    /// For its row, with the installation's master key.
    config_sealed: String,
    version: i64,
    sent_through: Option<i64>,
}

/// By instance, the highest id that was given. A store of an earlier release has none.
pub(super) async fn read_last_ids(store: &mut Before) -> Result<BTreeMap<i64, i64>> {
    if !store.instances_have("last_integration").await? {
        return Ok(BTreeMap::new());
    }
    let query = Query::new("SELECT id, last_integration FROM instances");
    let rows = store.fetch(query).await?;
    rows.iter().map(|row| Ok((row.int("id")?, row.int("last_integration")?))).collect()
}

/// None from a store of an earlier release.
pub(super) async fn read(store: &mut Before) -> Result<Option<Vec<KnownIntegration>>> {
    if !store.instances_have("last_integration").await? {
        return Ok(None);
    }
    let query = Query::new(
        "SELECT instance_id, id, config_sealed, version, sent_through FROM integrations \
         ORDER BY instance_id, id",
    );
    let rows = store.fetch(query).await?;
    rows.iter().map(known).collect::<Result<_>>().map(Some)
}

fn known(row: &Row) -> Result<KnownIntegration> {
    Ok(KnownIntegration {
        instance_id: row.int("instance_id")?,
        id: row.int("id")?,
        config_sealed: row.text("config_sealed")?,
        version: row.int("version")?,
        sent_through: row.int_or_none("sent_through")?,
    })
}

/// Call it before the revisions are set by [`have_fetched`].
pub(super) async fn take_over(work: &mut Work, past: &Past) -> Result<()> {
    // An agent keeps logs that wait to be sent by the id of their integration, and those of
    // one that is gone must not go to another.
    for (instance, last) in &past.last_integrations {
        let query = Query::new(
            "UPDATE instances SET last_integration = $2 WHERE id = $1 AND last_integration < $2",
        );
        work.execute(query.bind(*instance).bind(*last)).await?;
    }
    let Some(present) = &past.integrations else { return Ok(()) };
    let ids: BTreeSet<(i64, i64)> = present.iter().map(|it| (it.instance_id, it.id)).collect();
    let rows = work.fetch(Query::new("SELECT instance_id, id FROM integrations")).await?;
    for row in rows {
        let (instance, id) = (row.int("instance_id")?, row.int("id")?);
        if !ids.contains(&(instance, id)) {
            integrations::delete(work, InstanceId(instance), IntegrationId(id)).await?;
        }
    }
    for integration in present {
        work.execute(written(integration)).await?;
    }
    Ok(())
}

/// What was sent since is not sent again.
fn written(integration: &KnownIntegration) -> Query {
    Query::new(
        "UPDATE integrations SET config_sealed = $3, version = $4, sent_through = \
         CASE WHEN sent_through IS NULL OR sent_through < $5 THEN CAST($5 AS BIGINT) \
         ELSE sent_through END WHERE instance_id = $1 AND id = $2",
    )
    .bind(integration.instance_id)
    .bind(integration.id)
    .bind(integration.config_sealed.as_str())
    .bind(integration.version)
    .bind(integration.sent_through)
}

/// Agents send logs to where the store before said, and this one may come to the same
/// revision with other integrations: none of its revisions is one of another epoch.
pub(super) async fn have_fetched(work: &mut Work, epoch: i64) -> Result<()> {
    let query = Query::new(
        "UPDATE instances SET integrations_revision = \
         $1 * 4294967296 + integrations_revision % 4294967296",
    );
    work.execute(query.bind(epoch)).await.map(drop)
}
