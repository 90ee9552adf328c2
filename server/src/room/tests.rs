//! What a host can hold, and what it is asked.

use super::*;
use crate::testing::TestInstallation;
use app::Room as _;
use app::instances::NewInstance;
use model::{Clock, DiskLevel, SystemClock};
use std::sync::Mutex;

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
        new_servers: 3,
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
        new_servers: 7,
        each_mb: 1 << 40,
        promised_servers: 0,
        promised_mb: 0,
        memory_mb: None,
        disk_mb: DISK_MB,
        file_system: None,
    };
    question.answer(&mouse()).unwrap();
}

/// Has room for nothing, and notes for what it was asked.
#[derive(Default)]
struct Full(Mutex<Vec<String>>);

#[async_trait]
impl app::Room for Full {
    async fn check(&self, plan: &Plan, disk_gb: u32) -> Result<(), NoRoom> {
        self.0.lock().unwrap().push(format!("{} with {disk_gb} GB", plan.name));
        Err(NoRoom::Refused("7 of 8 MiB are promised to 3 servers".into()))
    }

    async fn check_growth(&self, growth: &Growth<'_>) -> Result<(), NoRoom> {
        self.check(growth.plan, growth.disk_gb).await
    }
}

#[tokio::test]
async fn what_becomes_of_an_instance_is_counted_instead_of_what_it_is() {
    let here = TestInstallation::make(None).await;
    let room = Room { memory_mb: Some(6000), ..room(&here) };
    let plan = |name: &str| room.catalogue.plan(name).unwrap();
    let ask = |from: &str, to: &str, (disk_before, disk_gb): (u32, u32), promised: u32| {
        let growth = Growth {
            from: Some(plan(from)),
            servers_before: plan(from).nodes,
            disk_before,
            plan: plan(to),
            disk_gb,
        };
        let promised = [(PlanName(from.into()), promised)];
        let question = room.question_of_growth(&growth, &promised);
        Question { file_system: question.file_system.map(|_| (2_000, 250_000)), ..question }
            .answer(&growth.plan.name)
    };
    // 1,344 MiB a server, and 4,976 that are not kept for the host.
    ask("mouse-1", "mouse-1", (25, 25), 1).unwrap();
    let refused = ask("mouse-1", "mouse-5", (25, 25), 1).unwrap_err();
    assert!(refused.contains("5 servers of 1344 MiB need 6720 MiB"), "{refused}");
    assert!(refused.contains("less 0 MiB promised to 0 servers"), "{refused}");
    // Other instances have more than there is; nothing is needed in addition.
    ask("mouse-3", "mouse-1", (25, 25), 30).unwrap();
    ask("bat-3", "mouse-3", (500, 500), 30).unwrap();
    let refused = ask("mouse-3", "bat-3", (25, 500), 30).unwrap_err();
    assert!(refused.contains("promised to 27 servers"), "{refused}");
    // Disks are asked about where there are more of them, or larger ones.
    let refused = ask("mouse-1", "mouse-3", (25, 25), 1).unwrap_err();
    assert!(refused.contains("each of 2 servers to begin with"), "{refused}");
    let refused = ask("mouse-1", "mouse-1", (25, 4000), 1).unwrap_err();
    assert!(refused.contains("each of 0 servers to begin with"), "{refused}");
}

#[tokio::test]
async fn room_is_asked_for_disks_of_the_size_that_they_get() {
    let full = Arc::new(Full::default());
    let here = TestInstallation::with_room(|_, _| Some(full.clone())).await;
    for (disk_size, expected) in [(None, 25), (Some(10), 25), (Some(400), 400)] {
        let new = NewInstance { disk_size, ..TestInstallation::order("mouse-3") };
        let refused = here.create_as(new).await.unwrap_err().to_string();
        assert!(refused.starts_with("This region has no room for that plan now"), "{refused}");
        assert!(!refused.contains("MiB"), "a customer hears nothing of the host: {refused}");
        let asked = full.0.lock().unwrap().pop();
        assert_eq!(asked, Some(format!("mouse-3 with {expected} GB")));
    }
}
