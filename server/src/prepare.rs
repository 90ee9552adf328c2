//! Having Kafka on this machine before a cluster needs it, so that `castellan
//! up` can show how far it is. Agents that may write to the cache do the same by
//! themselves; for the others the control plane does it.

use crate::config::Config;
use crate::separation::closed_to_others;
use crate::stage::Stage;
use anyhow::{Context, Result, bail};
use kafka::artifacts::Artifacts;
use kafka::java::Java;
use kafka::versions::Release;
use kafka::{Progress, java, startup_cache, versions};
use model::KafkaVersion;

type Say<'a> = &'a (dyn Fn(Progress) + Send + Sync);

/// Fetches this version and makes its start-up cache, unless both are there. The broker
/// that is started for it runs as the trainer, where brokers have uids.
pub async fn kafka(config: &Config, version: KafkaVersion, trainer: Option<u32>) -> Result<()> {
    let (release, java) = start(config, version, trainer).await?;
    let stage = Stage::begin("Kafka");
    let distribution = fetch(config, release, &|progress| stage.say(progress.to_string())).await?;
    stage.done(&format!("{version} on Java {}", java.version));

    let stage = Stage::begin("start-up cache");
    let say = |progress: Progress| stage.say(progress.to_string());
    let cache = config.local.cache();
    match startup_cache::ensure(&cache, &distribution, &java, trainer, &say).await {
        Ok(_) => stage.done("there"),
        // Brokers start without one, only slower.
        Err(error) => stage.done(&format!("left out: {error}")),
    }
    Ok(())
}

/// The same, without a word on the terminal.
pub async fn quietly(config: &Config, version: KafkaVersion, trainer: Option<u32>) -> Result<()> {
    let (release, java) = start(config, version, trainer).await?;
    let say = |progress: Progress| tracing::debug!("{progress}");
    let distribution = fetch(config, release, &say).await?;
    let cache = config.local.cache();
    let made = startup_cache::ensure(&cache, &distribution, &java, trainer, &say).await;
    if let Err(error) = made {
        tracing::warn!(%error, %version, "brokers start without a start-up cache");
    }
    Ok(())
}

async fn start(
    config: &Config,
    version: KafkaVersion,
    trainer: Option<u32>,
) -> Result<(&'static Release, Java)> {
    let release = versions::release(version)
        .with_context(|| format!("Kafka {version} is not one that this Castellan can run"))?;
    let java = java::find(release.java(), config.local.java.as_deref()).await?;
    if let Some(closed) = trainer.and_then(|_| closed_to_others(&java.home)) {
        bail!(
            "the Java in {} can't be reached by the uids of instances; run: chmod o+x {}, or name \
             another with java under [local]",
            java.home.display(),
            closed.display()
        );
    }
    Ok((release, java))
}

async fn fetch(
    config: &Config,
    release: &Release,
    say: Say<'_>,
) -> Result<kafka::artifacts::Distribution> {
    let local = &config.local;
    let artifacts = Artifacts::new(local.cache(), local.distributions.clone());
    Ok(artifacts.ensure(release.version, say).await?)
}
