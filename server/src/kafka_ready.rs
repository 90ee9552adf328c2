//! Has every Kafka there that this host's servers want: for agents with uids of their
//! own, which may read the cache and not write to it.

use crate::config::Config;
use crate::prepare;
use kafka::artifacts::Artifacts;
use model::{HostId, KafkaVersion};
use std::collections::HashMap;
use std::time::Duration;
use store::Store;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

const LOOK: Duration = Duration::from_secs(1);
/// After a failure, such as a network that is away.
const AGAIN: Duration = Duration::from_secs(30);
/// Jars that went bad are found by then, and fetched anew.
const CHECK: Duration = Duration::from_mins(10);

pub struct KafkaReady {
    store: Store,
    host_id: HostId,
    config: Config,
    trainer: u32,
}

impl KafkaReady {
    /// A broker for a start-up cache runs as the trainer.
    pub fn new(store: &Store, host_id: HostId, config: &Config, trainer: u32) -> Self {
        Self { store: store.clone(), host_id, config: config.clone(), trainer }
    }

    /// Never ends by itself.
    pub async fn run(self, stop: CancellationToken) {
        let mut next: HashMap<KafkaVersion, Instant> = HashMap::new();
        loop {
            for version in self.wanted().await {
                let is_due = next.get(&version).is_none_or(|due| Instant::now() >= *due);
                if is_due || !self.artifacts().present(version) {
                    let Some(pause) = stop.run_until_cancelled(self.have(version)).await else {
                        return;
                    };
                    next.insert(version, Instant::now() + pause);
                }
            }
            if stop.run_until_cancelled(tokio::time::sleep(LOOK)).await.is_none() {
                return;
            }
        }
    }

    async fn wanted(&self) -> Vec<KafkaVersion> {
        let found = store::servers::kafka_versions_on(&mut self.store.reader(), self.host_id).await;
        found.unwrap_or_else(|error| {
            tracing::debug!(%error, "the store does not say which Kafka is wanted");
            Vec::new()
        })
    }

    fn artifacts(&self) -> Artifacts {
        Artifacts::new(self.config.local.cache(), self.config.local.distributions.clone())
    }

    /// How long that is good for.
    async fn have(&self, version: KafkaVersion) -> Duration {
        let work = self.artifacts().work(version);
        // Agents wait while this says so; without it they just start slower.
        if !self.artifacts().present(version) {
            let _ = work.begin(None);
        }
        match prepare::quietly(&self.config, version, Some(self.trainer)).await {
            Ok(()) => {
                let _ = work.end();
                CHECK
            }
            Err(error) => {
                let problem = format!("{error:#}");
                tracing::warn!(%version, problem, "Kafka is not ready");
                let _ = work.begin(Some(&problem));
                AGAIN
            }
        }
    }
}
