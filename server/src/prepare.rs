//! Having Kafka on this machine before a cluster needs it, so that `castellan
//! up` can show how far it is. Agents do the same by themselves.

use crate::config::Config;
use crate::stage::Stage;
use anyhow::{Context, Result};
use kafka::artifacts::{Artifacts, default_cache_root};
use kafka::{java, startup_cache, versions};
use model::KafkaVersion;

/// Fetches this version and makes its start-up cache, unless both are there.
pub async fn kafka(config: &Config, version: KafkaVersion) -> Result<()> {
    let release = versions::release(version)
        .with_context(|| format!("Kafka {version} is not one that this Castellan can run"))?;
    let java = java::find(release.java(), config.local.java.as_deref()).await?;

    let cache = config.local.cache.clone().unwrap_or_else(default_cache_root);
    let artifacts = Artifacts::new(cache.clone(), config.local.distributions.clone());
    let stage = Stage::begin("Kafka");
    let distribution =
        artifacts.ensure(version, &|progress| stage.say(progress.to_string())).await?;
    stage.done(&format!("{version} on Java {}", java.version));

    let stage = Stage::begin("start-up cache");
    let say = |progress: kafka::Progress| stage.say(progress.to_string());
    match startup_cache::ensure(&cache, &distribution, &java, &say).await {
        Ok(_) => stage.done("there"),
        // Brokers start without one, only slower.
        Err(error) => stage.done(&format!("left out: {error}")),
    }
    Ok(())
}
