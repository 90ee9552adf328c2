//! The configuration that is on record for the brokers of a cluster, changed behind the
//! control plane's back: with the next roll brokers are started so. For comparing settings
//! that nobody may choose.

use crate::castellan::Castellan;
use anyhow::{Context, Result};
use kafka::render::RENDER_VERSION;
use model::{InstanceId, OsEntropy, Secret};
use std::fs;
use std::path::Path;
use std::sync::Arc;
use store::{MasterKey, Store, servers};

impl Castellan {
    /// What the first server is started with.
    pub async fn settings<const N: usize>(&self, id: i64, names: [&str; N]) -> Result<[String; N]> {
        let store = open(&self.data()).await?;
        let records = servers::list(&mut store.reader(), InstanceId(id)).await?;
        let broker = records.first().context("a server")?.parse_broker()?.context("rendered")?;
        let value = |name: &str| {
            let line = broker.properties.lines().find_map(|line| line.strip_prefix(name));
            line.and_then(|line| line.strip_prefix('=')).unwrap_or_default().to_owned()
        };
        Ok(names.map(value))
    }

    /// Counts from the next start of each broker on.
    pub async fn change_settings<const N: usize>(
        &self,
        id: i64,
        names: [&str; N],
        values: [&str; N],
    ) -> Result<()> {
        let store = open(&self.data()).await?;
        let mut work = store.begin().await?;
        for record in servers::list(&mut work, InstanceId(id)).await? {
            let mut broker = record.parse_broker()?.context("it is rendered")?;
            let is_kept =
                |line: &&str| !line.split_once('=').is_some_and(|(name, _)| names.contains(&name));
            let kept = broker.properties.lines().filter(is_kept).map(str::to_owned);
            let changed = names.iter().zip(values).map(|(name, value)| format!("{name}={value}"));
            broker.properties = kept.chain(changed).map(|line| line + "\n").collect();
            broker.config_hash = format!("{}-{}", record.server.id, values.join("-"));
            let text = serde_json::to_string(&broker)?;
            servers::set_broker(&mut work, record.server.id, &text, RENDER_VERSION.into()).await?;
        }
        Ok(work.commit().await?)
    }
}

/// The store of a control plane that runs.
pub async fn open(data: &Path) -> Result<Store> {
    let master = Secret::new(fs::read_to_string(data.join("master.key"))?.trim());
    let master = MasterKey::parse(&master, Arc::new(OsEntropy))?;
    Ok(Store::open(&data.join("castellan.db"), master).await?)
}
