//! An installation with an account, for tests: a store of its own, and no
//! process.

use crate::clouds;
use crate::config::Config;
use crate::data_dir::DataDir;
use crate::installation::{self, Opened};
use crate::room::Room;
use app::instances::NewInstance;
use app::{App, Asked, Caller, RegionCloud, Source, SourceKind};
use model::{AccountId, Catalogue, HostId, InstanceId, OsEntropy, SystemClock};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use store::Store;

pub struct TestInstallation {
    _directory: tempfile::TempDir,
    pub data: DataDir,
    pub host_id: HostId,
    pub app: App,
    caller: Caller,
}

impl TestInstallation {
    /// With this much memory; none: whether there is room is not asked.
    pub async fn make(memory_mb: Option<u64>) -> Self {
        Self::with_room(|opened, data| {
            memory_mb.is_some().then(|| {
                Arc::new(Room {
                    store: opened.store.clone(),
                    catalogue: Arc::new(Catalogue::built_in()),
                    host_id: opened.host_id,
                    data: data.path().into(),
                    max_heap_mb: None,
                    memory_mb,
                }) as Arc<dyn app::Room>
            })
        })
        .await
    }

    pub async fn with_room(
        room: impl FnOnce(&Opened, &DataDir) -> Option<Arc<dyn app::Room>>,
    ) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let data = DataDir::new(&directory.path().join("data")).unwrap();
        let opened = installation::open(&data, None).await.unwrap();
        let catalogue = Arc::new(Catalogue::built_in());
        let room = room(&opened, &data);
        let clouds = clouds::asked(&catalogue, &opened, &Config::default()).unwrap();
        let clouds = clouds.map(|cloud| RegionCloud { room: room.clone(), ..cloud.clone() });
        let Opened { store, installation, host_id } = opened;
        let app = App::new(app::Parts {
            admin: crate::control_plane::admin(&store),
            store,
            catalogue,
            clock: Arc::new(SystemClock),
            entropy: Arc::new(OsEntropy),
            clouds,
            destinations: Arc::new(app::Anywhere),
            integration_tester: Arc::new(app::integrations::NoTester),
            settings: app::Settings::default(),
            installation,
        });
        let key = data.load_customer_key().unwrap();
        crate::account::create(&app, "Test", "t@x.test", key.clone()).await.unwrap();
        let source = Source { kind: SourceKind::Cli, address: None };
        let caller = app::apikeys::authenticate(source, &app, &key).await.unwrap();
        Self { _directory: directory, data, host_id, app, caller }
    }

    pub fn account_id(&self) -> AccountId {
        self.caller.account_id()
    }

    pub fn store(&self) -> &Store {
        self.app.store()
    }

    /// Gives the first server of an instance the directory that it has once it is made.
    pub async fn pretend_held(&self, id: InstanceId) -> PathBuf {
        let servers = store::servers::list(&mut self.store().reader(), id).await.unwrap();
        let server = servers[0].server.id;
        let directory = self.data.host().join("servers").join(server.to_string());
        fs::create_dir_all(&directory).unwrap();
        let text = serde_json::json!({
            "server_id": server, "instance_id": id, "incarnation": 1,
            "disk_id": "00000000-0000-4000-8000-000000000011",
        });
        fs::write(directory.join("server.json"), text.to_string()).unwrap();
        directory
    }

    pub fn order(plan: &str) -> NewInstance {
        NewInstance {
            name: Some("orders".into()),
            plan: Some(plan.into()),
            region: Some("local::this-machine".into()),
            ..NewInstance::default()
        }
    }

    pub async fn create(&self, plan: &str) -> app::Result<InstanceId> {
        self.create_as(Self::order(plan)).await
    }

    pub async fn create_as(&self, new: NewInstance) -> app::Result<InstanceId> {
        let created = app::instances::create(&self.caller, &self.app, Asked::given(new)).await?;
        Ok(created.id)
    }
}

/// Has this very process pass for the agent of the server with that directory.
pub fn pretend_running(directory: &Path) {
    let ourselves = i32::try_from(std::process::id()).unwrap();
    let agent = host::ProcessId::from_pid(ourselves).unwrap();
    agent.save(&directory.join("agent.pid")).unwrap();
}
