//! What becomes of a backup, without any process.

use super::*;
use crate::testing::TestInstallation;
use model::{Instance, IntegrationKind, IntegrationSystem};
use store::{NewIntegration, integrations};

struct Scene {
    here: TestInstallation,
    backup: PathBuf,
}

impl Scene {
    /// Two stopped clusters in a backup, of which nothing runs. Metrics of one are sent
    /// somewhere.
    async fn new() -> (Self, [InstanceId; 2]) {
        let here = TestInstallation::make(None).await;
        let ids = [here.create("mouse-1").await.unwrap(), here.create("mouse-1").await.unwrap()];
        let mut work = here.store().begin().await.unwrap();
        for id in ids {
            store::instances::set_stopped(&mut work, id, true, SystemClock.now()).await.unwrap();
        }
        let system = IntegrationSystem::Datadog;
        let config = system.config([("api_key", "k")]).unwrap();
        let new = NewIntegration { kind: IntegrationKind::Metrics, system, config };
        integrations::insert(&mut work, ids[0], &new, SystemClock.now()).await.unwrap();
        work.commit().await.unwrap();
        let backup = here.data.path().with_file_name("backup");
        copy(&here.data.store(), &backup).await.unwrap();
        (Self { here, backup }, ids)
    }

    fn key(&self) -> MasterKey {
        let at = Location::Sqlite(self.backup.clone());
        self.here.data.load_master_key(&at, true).unwrap()
    }

    /// The store that a restore would leave now.
    async fn restored(&self) -> (Store, Restored) {
        self.here.store().close().await;
        let past = past::of_file(&self.here.data).await.unwrap();
        let half = self.here.data.path().with_file_name("half");
        let keep = BTreeSet::new();
        let restored = prepare(&self.backup, &half, self.key(), &past, &keep).await.unwrap();
        (Store::open(&half, self.key()).await.unwrap(), restored)
    }
}

async fn instance(store: &Store, id: InstanceId) -> Instance {
    store::instances::find(&mut store.reader(), id).await.unwrap().unwrap()
}

#[tokio::test]
async fn what_was_started_since_the_backup_runs_on() {
    let (scene, [started, stopped]) = Scene::new().await;
    scene.here.pretend_held(started).await;
    let (store, restored) = scene.restored().await;

    assert_eq!(restored.run_on, BTreeSet::from([started]));
    for (id, runs) in [(started, true), (stopped, false)] {
        let servers = store::servers::list_bare(&mut store.reader(), id).await.unwrap();
        let is_stopped = instance(&store, id).await.stopped;
        assert_eq!(
            (!is_stopped, servers[0].state == model::ServerState::Made),
            (runs, runs),
            "{id}"
        );
    }
    store.close().await;
}

#[tokio::test]
async fn integrations_of_a_backup_are_counted_where_nothing_says_what_became_of_them() {
    let (scene, _) = Scene::new().await;
    let half = scene.here.data.path().with_file_name("half");
    let (past, keep) = (Past::default(), BTreeSet::new());
    let restored = prepare(&scene.backup, &half, scene.key(), &past, &keep).await.unwrap();
    assert_eq!(restored.unknown_integrations, 1);
    fs::remove_file(&half).unwrap();
    let (store, restored) = scene.restored().await;
    assert_eq!(restored.unknown_integrations, 0);
    store.close().await;
}

#[tokio::test]
async fn passwords_and_settings_are_written_into_kafka_once_more() {
    let (scene, ids) = Scene::new().await;
    let (store, _) = scene.restored().await;
    for id in ids {
        let found = instance(&store, id).await;
        assert!(found.kafka_generation > found.progress.kafka_observed, "{found:?}");
    }
    store.close().await;
}

#[test]
fn only_the_owner_of_a_data_directory_may_restore_into_it() {
    let directory = tempfile::tempdir().unwrap();
    let ours = rustix::process::geteuid().as_raw();
    check_owner(directory.path(), ours).unwrap();
    check_owner(&directory.path().join("not made yet"), ours).unwrap();
    let refused = check_owner(directory.path(), ours + 1).unwrap_err().to_string();
    assert!(refused.contains("sudo -u castellan"), "{refused}");
}
