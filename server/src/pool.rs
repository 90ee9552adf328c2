//! How many warm JVMs this host keeps and for what sort of broker (`agent::pool`).

use crate::config::Warm;
use crate::room::Room;
use agent::pool::{PoolHost, Shape, Wanted};
use async_trait::async_trait;
use cloud_local::PoolIsolation;
use host::ProcessId;
use kafka::{render, versions};
use model::{Plan, PlanName};

/// A cluster of three servers.
const MOST: usize = 3;
/// What one takes while it waits, and some more for the time of its rehearsal.
const EACH_MB: u64 = 448;

pub struct HostPool {
    pub warm: Warm,
    pub room: Room,
    pub isolation: PoolIsolation,
}

#[async_trait]
impl PoolHost for HostPool {
    async fn wanted(&self) -> Result<Wanted, String> {
        let away = |error: store::Error| format!("the store is away: {error}");
        let Room { store, host_id, .. } = &self.room;
        let newest = store::servers::newest_plan_on(&mut store.reader(), *host_id).await;
        let shape = self.shape(newest.map_err(away)?)?;
        let (count, why) = match self.warm {
            Warm::Count(count) => (count.into(), None),
            Warm::Auto => {
                let promised = self.room.promised().await.map_err(away)?;
                automatic(self.room.spare_mb(&promised))
            }
        };
        Ok(Wanted { count, shape, why })
    }

    fn reserve_uid(&self) -> Result<Option<u32>, String> {
        self.isolation.reserve_uid().map_err(|error| error.to_string())
    }

    fn drop_reservation(&self) -> Result<(), String> {
        self.isolation.drop_reservation().map_err(|error| error.to_string())
    }

    fn is_reserved(&self, uid: u32) -> bool {
        self.isolation.is_reserved(uid)
    }

    fn enter_group(&self, agent: i32, process: &ProcessId) -> Result<(), String> {
        self.isolation.enter_group(agent, process).map_err(|error| error.to_string())
    }
}

impl HostPool {
    /// The newest Kafka, with the heap of the plan that was created last, or else of the
    /// smallest.
    fn shape(&self, newest: Option<PlanName>) -> Result<Shape, String> {
        let catalogue = &self.room.catalogue;
        let memory = |plan: &&Plan| plan.family.memory_gb;
        let plan = newest
            .and_then(|name| catalogue.plan(&name.0))
            .or_else(|| catalogue.plans().iter().min_by_key(memory))
            .ok_or("the catalogue has no plan")?;
        let version = catalogue.newest_kafka();
        let release = versions::release(version)
            .ok_or_else(|| format!("Kafka {version} is not supported"))?;
        let memory_mb = plan.family.memory_gb.saturating_mul(1024);
        Ok(Shape {
            kafka_version: version,
            jvm_flags: render::jvm_flags(memory_mb, self.room.max_heap_mb),
            logging_file: render::logging_file(release.logging).into(),
        })
    }
}

/// As many as that memory holds, and why not all.
fn automatic(spare_mb: Option<u64>) -> (usize, Option<String>) {
    let Some(spare_mb) = spare_mb else {
        return (0, Some("this host does not say how much memory it has".into()));
    };
    let fit = usize::try_from(spare_mb / EACH_MB).unwrap_or(MOST);
    let why = (fit < MOST).then(|| {
        format!(
            "{spare_mb} MiB of memory are neither promised to servers nor kept for the host, and \
             each takes {EACH_MB} MiB"
        )
    });
    (fit.min(MOST), why)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spare_memory_decides_how_many_are_kept() {
        assert_eq!(automatic(Some(3 * EACH_MB)), (3, None));
        assert_eq!(automatic(Some(30 * EACH_MB)), (3, None));
        let (count, why) = automatic(Some(3 * EACH_MB - 1));
        assert_eq!(count, 2);
        assert!(why.unwrap().starts_with("1343 MiB of memory are neither"));
        assert_eq!(automatic(Some(0)).0, 0);
        assert_eq!(automatic(None).0, 0);
    }
}
