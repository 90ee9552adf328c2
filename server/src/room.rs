//! Whether this host can hold one more instance.
//!
//! A server's memory is counted as what its processes take for themselves: the
//! broker's heap and what the JVM needs beside it. The rest of a plan's memory
//! is page cache, which all servers of a host share and none has to itself.
//! Disks are directories of one file system, and take of it what is written: a
//! plan's size is not set aside. But nothing is begun where producers would be
//! slowed down at once, because as much of a disk of that size has to stay free.

use crate::host_facts;
use app::NoRoom;
use kafka::render::heap_mb;
use model::{Catalogue, HostId, Plan, PlanName};
use std::path::PathBuf;
use std::sync::Arc;
use store::Store;

/// A JVM takes about this beside its heap, with its agent: classes, compiled
/// code, threads, network buffers.
const BESIDE_HEAP_MB: u64 = 320;
/// Kept for the system and the control plane: a sixteenth, but at least this.
const RESERVE_MB: u64 = 1024;
/// Formatted, empty, with Kafka's own topics, its ballast and room for a first segment.
const DISK_EACH_MB: u64 = 1024;
/// What has to stay free of a disk, or its producers are slowed down. All disks of a host
/// share one file system, so that it counts once for all servers of a create.
const FREE_PERCENT: u64 = 5;

/// Asks the host and the store.
pub struct Room {
    pub store: Store,
    pub catalogue: Arc<Catalogue>,
    pub host_id: HostId,
    /// Where disks are made.
    pub data: PathBuf,
    pub max_heap_mb: Option<u32>,
    /// Of the host; unknown, it refuses nothing.
    pub memory_mb: Option<u64>,
}

impl Room {
    /// Whether it holds one more instance of the plan, whose disks have so many gigabytes.
    pub async fn check(&self, plan: &Plan, disk_gb: u32) -> Result<(), NoRoom> {
        let promised = store::servers::plans_on(&mut self.store.reader(), self.host_id).await?;
        let question = self.question(plan, disk_gb, &promised);
        question.answer(&plan.name).map_err(NoRoom::Refused)
    }

    fn question(&self, plan: &Plan, disk_gb: u32, promised: &[(PlanName, u32)]) -> Question {
        Question {
            servers: u64::from(plan.nodes),
            each_mb: self.takes_mb(Some(plan)),
            promised_servers: promised.iter().map(|(_, servers)| u64::from(*servers)).sum(),
            promised_mb: promised.iter().map(|promise| self.promised_mb(promise)).sum(),
            memory_mb: self.memory_mb,
            disk_mb: u64::from(disk_gb) * 1024,
            file_system: host_facts::file_system_mb(&self.data),
        }
    }

    fn promised_mb(&self, (plan, servers): &(PlanName, u32)) -> u64 {
        self.takes_mb(self.catalogue.plan(&plan.0)) * u64::from(*servers)
    }

    /// What one server takes. A plan that left the catalogue counts least.
    fn takes_mb(&self, plan: Option<&Plan>) -> u64 {
        let memory_mb = plan.map_or(0, |plan| plan.family.memory_gb.saturating_mul(1024));
        u64::from(heap_mb(memory_mb, self.max_heap_mb)) + BESIDE_HEAP_MB
    }
}

/// Everything the answer depends on.
#[derive(Clone, Copy, Debug)]
struct Question {
    servers: u64,
    each_mb: u64,
    promised_servers: u64,
    promised_mb: u64,
    memory_mb: Option<u64>,
    /// Of one server: its plan's, or a larger one that was asked for.
    disk_mb: u64,
    /// Where disks are: what is free, and all of it.
    file_system: Option<(u64, u64)>,
}

impl Question {
    fn answer(&self, plan: &PlanName) -> Result<(), String> {
        self.memory(plan)?;
        self.disk(plan)
    }

    fn memory(&self, plan: &PlanName) -> Result<(), String> {
        let Some(memory) = self.memory_mb else { return Ok(()) };
        let Self { servers, each_mb, promised_servers, promised_mb, .. } = *self;
        let reserve = (memory / 16).max(RESERVE_MB);
        let left = memory.saturating_sub(reserve).saturating_sub(promised_mb);
        let needed = servers * each_mb;
        if needed <= left {
            return Ok(());
        }
        Err(format!(
            "This host can't hold {plan}: {servers} servers of {each_mb} MiB need {needed} MiB of \
             memory, and {left} MiB are left ({memory} MiB, less {promised_mb} MiB promised to \
             {promised_servers} servers and {reserve} MiB kept for the host); choose a smaller \
             plan, delete an instance, or set overcommit = true under [local] in the config file"
        ))
    }

    fn disk(&self, plan: &PlanName) -> Result<(), String> {
        let Some((free, total)) = self.file_system else { return Ok(()) };
        let Self { servers, disk_mb, .. } = *self;
        // Some file systems don't say how large they are.
        let whole = if total == 0 { disk_mb } else { disk_mb.min(total) };
        let stays = whole * FREE_PERCENT / 100;
        let needed = servers * DISK_EACH_MB + stays;
        if needed <= free {
            return Ok(());
        }
        Err(format!(
            "This host can't hold {plan}: {needed} MiB of disk are needed ({DISK_EACH_MB} MiB for \
             each of {servers} servers to begin with, and once for all {stays} MiB that stay free, \
             or producers are slowed down), and {free} MiB are free; free some space, delete an \
             instance, or set overcommit = true under [local] in the config file"
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::TestInstallation;
    use model::{Clock, DiskLevel, SystemClock};

    const HOST_MB: u64 = 24_103;
    const DISK_MB: u64 = 25 * 1024;

    fn mouse() -> PlanName {
        PlanName("mouse-3".into())
    }

    /// As many servers of a mouse as were promised, and three more.
    fn ask(promised_servers: u64, file_system: (u64, u64)) -> Result<(), String> {
        let each_mb = u64::from(heap_mb(2048, None)) + BESIDE_HEAP_MB;
        let question = Question {
            servers: 3,
            each_mb,
            promised_servers,
            promised_mb: promised_servers * each_mb,
            memory_mb: Some(HOST_MB),
            disk_mb: DISK_MB,
            file_system: Some(file_system),
        };
        question.answer(&mouse())
    }

    #[test]
    fn a_host_of_24_gib_holds_five_small_clusters_and_tells_why_not_six() {
        for clusters in 0..5 {
            ask(clusters * 3, (50_000, 250_000)).unwrap();
        }
        let refused = ask(15, (50_000, 250_000)).unwrap_err();
        for number in ["mouse-3", "4032 MiB", "24103 MiB", "20160 MiB", "15 servers", "1506 MiB"] {
            assert!(refused.contains(number), "{number}: {refused}");
        }
        assert!(refused.contains("overcommit = true"), "{refused}");
    }

    #[test]
    fn a_nearly_full_disk_is_refused_with_the_numbers() {
        let check = |total: u64, stays: u64| {
            let needed = 3 * DISK_EACH_MB + stays;
            ask(0, (needed, total)).unwrap();
            let refused = ask(0, (needed - 1, total)).unwrap_err();
            for number in [needed, stays, needed - 1] {
                assert!(refused.contains(&format!("{number} MiB")), "{number}: {refused}");
            }
            assert!(refused.contains(&format!("once for all {stays} MiB")), "{refused}");
        };
        // Of a small file system its own size counts, and not more than the plan has.
        check(10_000, 500);
        check(250_000, 1280);
        check(0, 1280);
    }

    #[test]
    fn a_plan_that_is_larger_than_the_file_system_is_taken() {
        ask(0, (9_000, 10_000)).unwrap();
    }

    #[test]
    fn as_much_stays_free_as_the_guard_of_disks_wants() {
        let (from, _) = DiskLevel::Slowed.percents();
        assert_eq!(format!("{from}"), format!("{}", 100 - FREE_PERCENT));
    }

    #[tokio::test]
    async fn what_was_promised_is_gone_until_it_is_deleted() {
        let here = TestInstallation::make(Some(6000)).await;
        let first = here.create("mouse-3").await.unwrap();
        let refused = here.create("mouse-3").await.unwrap_err().to_string();
        assert!(refused.starts_with("This region has no room for that plan now"), "{refused}");
        // The numbers are for the operator alone.
        let room = Room { memory_mb: Some(6000), ..room(&here) };
        let plan = room.catalogue.plan("mouse-3").unwrap();
        let reason = room.check(plan, 25).await.unwrap_err().to_string();
        assert!(reason.contains("944 MiB are left"), "{reason}");
        assert!(reason.contains("promised to 3 servers"), "{reason}");

        let mut work = here.store().begin().await.unwrap();
        store::instances::set_deleted(&mut work, first, SystemClock.now()).await.unwrap();
        work.commit().await.unwrap();
        here.create("mouse-3").await.unwrap();
    }

    fn room(here: &TestInstallation) -> Room {
        Room {
            store: here.store().clone(),
            catalogue: Arc::new(Catalogue::built_in()),
            host_id: here.host_id,
            data: here.data.path().into(),
            max_heap_mb: None,
            memory_mb: Some(HOST_MB),
        }
    }

    #[tokio::test]
    async fn a_disk_counts_as_large_as_it_will_be() {
        let here = TestInstallation::make(None).await;
        let room = room(&here);
        let plan = room.catalogue.plan("mouse-3").unwrap();
        for disk_gb in [25, 4000] {
            let question = room.question(plan, disk_gb, &[]);
            assert_eq!(question.disk_mb, u64::from(disk_gb) * 1024);
        }
    }

    #[tokio::test]
    async fn a_store_that_is_away_is_no_refusal() {
        let here = TestInstallation::make(None).await;
        let room = room(&here);
        here.store().close().await;
        let plan = room.catalogue.plan("mouse-3").unwrap();
        let failed = app::Error::from(room.check(plan, 25).await.unwrap_err());
        assert!(matches!(failed, app::Error::Away(_)), "{failed:?}");
    }

    #[tokio::test]
    async fn without_a_room_everything_has_a_place() {
        let here = TestInstallation::make(None).await;
        here.create("lion-7").await.unwrap();
    }

    #[test]
    fn what_can_not_be_read_refuses_nothing() {
        let question = Question {
            servers: 7,
            each_mb: 1 << 40,
            promised_servers: 0,
            promised_mb: 0,
            memory_mb: None,
            disk_mb: DISK_MB,
            file_system: None,
        };
        question.answer(&mouse()).unwrap();
    }
}
