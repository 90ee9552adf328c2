//! An installation with an account, for tests: a store of its own, and no
//! process.

use crate::data_dir::DataDir;
use crate::installation::{self, Opened};
use crate::places::LocalPlaces;
use crate::room::Room;
use app::instances::NewInstance;
use app::{App, Asked, Caller, Source, SourceKind};
use cloud_local::addresses::AddressMode;
use model::{Catalogue, HostId, InstanceId, OsEntropy, SystemClock};
use std::sync::Arc;
use store::Store;

pub struct TestInstallation {
    _directory: tempfile::TempDir,
    pub data: DataDir,
    pub host_id: HostId,
    app: App,
    caller: Caller,
}

impl TestInstallation {
    /// With this much memory; none: whether there is room is not asked.
    pub async fn make(memory_mb: Option<u64>) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let data = DataDir::new(&directory.path().join("data")).unwrap();
        let Opened { store, installation, host_id } =
            installation::open(&data, None).await.unwrap();
        let catalogue = Arc::new(Catalogue::built_in());
        let mut places = LocalPlaces::new(AddressMode::Loopback, installation.id, host_id);
        if memory_mb.is_some() {
            places = places.within(Room {
                store: store.clone(),
                catalogue: Arc::clone(&catalogue),
                host_id,
                data: data.path().into(),
                max_heap_mb: None,
                memory_mb,
            });
        }
        let app = App::new(app::Parts {
            store,
            admin: crate::control_plane::admin(),
            catalogue,
            clock: Arc::new(SystemClock),
            entropy: Arc::new(OsEntropy),
            places: Arc::new(places),
            destinations: Arc::new(app::Anywhere),
            settings: app::Settings::default(),
            installation,
        });
        let key = data.load_customer_key().unwrap();
        crate::account::create(&app, "Test", "t@x.test", key.clone()).await.unwrap();
        let source = Source { kind: SourceKind::Cli, address: None };
        let caller = app::apikeys::authenticate(source, &app, &key).await.unwrap();
        Self { _directory: directory, data, host_id, app, caller }
    }

    pub fn store(&self) -> &Store {
        self.app.store()
    }

    pub async fn create(&self, plan: &str) -> app::Result<InstanceId> {
        let new = NewInstance {
            name: Some("orders".into()),
            plan: Some(plan.into()),
            region: Some("local::this-machine".into()),
            ..NewInstance::default()
        };
        let created = app::instances::create(&self.caller, &self.app, Asked::given(new)).await?;
        Ok(created.id)
    }
}
