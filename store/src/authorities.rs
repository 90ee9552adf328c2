//! The certificate authorities of an instance.

use crate::db::{Query, Run};
use crate::{Result, Work};
use model::{InstanceId, Secret, words};
use std::collections::HashMap;

words! {
    /// Which of an instance's authorities.
    #[derive(Hash)]
    pub enum AuthorityKind {
        /// Brokers, controllers and the control plane; trusted there alone.
        Internal = "internal",
        /// What customers trust, and what signed the next two. Instances that were made
        /// before there were roots have none: their `Server` is self-signed and stands in
        /// for it.
        Root = "root",
        /// Signs the certificates of the customers' listeners.
        Server = "server",
        /// Signs customers' requests; trusted on the TLS listener alone.
        Client = "client",
    }
}

fn place(instance: InstanceId, kind: AuthorityKind) -> String {
    format!("authorities/{instance}/{kind}")
}

pub async fn insert(
    work: &mut Work,
    instance: InstanceId,
    kind: AuthorityKind,
    certificate: &str,
    key: &Secret,
) -> Result<()> {
    let query = Query::new(
        "INSERT INTO authorities (instance_id, kind, certificate, key_sealed) \
         VALUES ($1, $2, $3, $4)",
    )
    .bind(instance.0)
    .bind(kind.as_str())
    .bind(certificate)
    .bind(work.master_key().seal(&place(instance, kind), key));
    work.execute(query).await.map(drop)
}

/// The authority's certificate and key.
pub async fn find(
    run: &mut impl Run,
    instance: InstanceId,
    kind: AuthorityKind,
) -> Result<Option<(String, Secret)>> {
    let query = Query::new("SELECT * FROM authorities WHERE instance_id = $1 AND kind = $2")
        .bind(instance.0)
        .bind(kind.as_str());
    let Some(row) = run.fetch_one(query).await? else { return Ok(None) };
    let key = run.master_key().open(&place(instance, kind), &row.text("key_sealed")?)?;
    Ok(Some((row.text("certificate")?, key)))
}

/// The certificate alone, without opening the key.
pub async fn certificate(
    run: &mut impl Run,
    instance: InstanceId,
    kind: AuthorityKind,
) -> Result<Option<String>> {
    let query =
        Query::new("SELECT certificate FROM authorities WHERE instance_id = $1 AND kind = $2")
            .bind(instance.0)
            .bind(kind.as_str());
    run.fetch_one(query).await?.map(|row| row.text("certificate")).transpose()
}

/// What customers verify an instance's brokers with.
pub async fn customers_root(run: &mut impl Run, instance: InstanceId) -> Result<Option<String>> {
    let mut all = certificates(run, instance).await?;
    Ok(all.remove(&AuthorityKind::Root).or_else(|| all.remove(&AuthorityKind::Server)))
}

/// The certificates of all of an instance's authorities.
pub async fn certificates(
    run: &mut impl Run,
    instance: InstanceId,
) -> Result<HashMap<AuthorityKind, String>> {
    let query = Query::new("SELECT kind, certificate FROM authorities WHERE instance_id = $1")
        .bind(instance.0);
    let mut all = HashMap::new();
    for row in run.fetch(query).await? {
        all.insert(row.parse("kind")?, row.text("certificate")?);
    }
    Ok(all)
}
