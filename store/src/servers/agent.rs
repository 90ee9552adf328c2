//! What is asked of a server's row at the calls of its agent: no document that is not
//! needed, since those are long and agents call all the time.

use crate::Result;
use crate::db::{Query, Row, Run};
use model::{InstanceId, IntegrationId, ServerId};
use std::collections::BTreeSet;

/// Whose calls are a server's.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct EnrolledAgent {
    pub instance_id: InstanceId,
    pub incarnation: i64,
    /// The hash of the public key that enrolled.
    pub key: Option<String>,
    /// Of the desired document; every other document has another one.
    pub revision: i64,
    /// Of where its instance's logs go.
    pub integrations_revision: i64,
}

/// None if there is no such server.
pub async fn find_agent(run: &mut impl Run, id: ServerId) -> Result<Option<EnrolledAgent>> {
    let query = Query::new(
        "SELECT servers.instance_id AS instance_id, servers.incarnation AS incarnation, \
         servers.enrolled_key AS enrolled_key, servers.revision AS revision, \
         instances.integrations_revision AS integrations_revision \
         FROM servers JOIN instances ON instances.id = servers.instance_id \
         WHERE servers.id = $1",
    )
    .bind(id.0);
    run.fetch_one(query).await?.map(|row| agent(&row)).transpose()
}

fn agent(row: &Row) -> Result<EnrolledAgent> {
    Ok(EnrolledAgent {
        instance_id: InstanceId(row.int("instance_id")?),
        incarnation: row.int("incarnation")?,
        key: row.text_or_none("enrolled_key")?,
        revision: row.int("revision")?,
        integrations_revision: row.int("integrations_revision")?,
    })
}

/// What is known of a server from the report before.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct LastReport {
    /// As it was sent; none if there is none, or no such server.
    pub document: Option<String>,
    /// Whether there are deliveries of its logs that fail.
    pub has_failures: bool,
}

pub async fn find_report(run: &mut impl Run, id: ServerId) -> Result<LastReport> {
    let query = Query::new(
        "SELECT report, (SELECT COUNT(*) FROM integration_errors \
         WHERE integration_errors.server_id = servers.id) AS failures \
         FROM servers WHERE id = $1",
    );
    let Some(row) = run.fetch_one(query.bind(id.0)).await? else {
        return Ok(LastReport::default());
    };
    Ok(LastReport { document: row.text_or_none("report")?, has_failures: row.int("failures")? > 0 })
}

/// The integrations that the logs of an instance's servers are sent to.
pub async fn find_log_integrations(
    run: &mut impl Run,
    instance: InstanceId,
) -> Result<BTreeSet<IntegrationId>> {
    let query = Query::new("SELECT id FROM integrations WHERE instance_id = $1 AND kind = 'logs'");
    let rows = run.fetch(query.bind(instance.0)).await?;
    rows.iter().map(|row| Ok(IntegrationId(row.int("id")?))).collect()
}
