//! How calls to integrations leave, as agents are given it. Sealed, since a proxy's password may
//! be part of it.

use crate::db::{Query, Run as _};
use crate::{Change, Error, Result, Work};
use model::agent::Outbound;
use model::{InstanceId, Secret};

const PLACE: &str = "installation/outbound";

/// Keeps these rules. If they differ from the ones kept before, the revision of every instance
/// that sends logs is raised in the same transaction, so that its agents fetch them. False if
/// they are the same.
pub async fn set_rules(work: &mut Work, rules: &Outbound) -> Result<bool> {
    let row = work.fetch_one(Query::new("SELECT outbound_sealed FROM installation")).await?;
    let row = row.ok_or(Error::Corrupt { what: "no installation", value: String::new() })?;
    let rules = Secret::new(serde_json::to_string(rules).expect("plain data serialises"));
    let kept = row.text_or_none("outbound_sealed")?;
    // Rules that can't be opened are as good as others.
    if kept.and_then(|sealed| work.master_key().open(PLACE, &sealed).ok()).as_ref() == Some(&rules)
    {
        return Ok(false);
    }
    let sealed = work.master_key().seal(PLACE, &rules);
    let query = Query::new("UPDATE installation SET outbound_sealed = $1");
    work.execute(query.bind(sealed)).await?;
    let query = Query::new(
        "UPDATE instances SET integrations_revision = integrations_revision + 1 \
         WHERE id IN (SELECT instance_id FROM integrations WHERE kind = 'logs') RETURNING id",
    );
    for row in work.fetch(query).await? {
        work.announce(Change::Integrations(InstanceId(row.int("id")?)));
    }
    Ok(true)
}
