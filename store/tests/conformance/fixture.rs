//! A store of its own for every check, with rows to put in.

use model::*;
use sqlx::{AssertSqlSafe, Connection, Executor, PgConnection, SqliteConnection};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use store::*;
use test_support::postgres;

/// A store of its own, and a clock.
pub struct Fixture {
    _directory: Option<tempfile::TempDir>,
    pub at: Location,
    pub store: Store,
    pub entropy: Arc<SeededEntropy>,
    clock: Mutex<Timestamp>,
}

pub const LIFE: SignedDuration = SignedDuration::from_secs(60);

pub fn now() -> Timestamp {
    "2026-11-15T12:00:00Z".parse().unwrap()
}

pub fn master_key(seed: u64) -> MasterKey {
    let entropy = Arc::new(SeededEntropy::new(seed));
    MasterKey::parse(&MasterKey::generate(&*entropy), entropy).unwrap()
}

impl Fixture {
    pub async fn sqlite() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let at = Location::Sqlite(directory.path().join("test.db"));
        Self::open(Some(directory), at).await
    }

    pub async fn postgres() -> Self {
        Self::open(None, Location::Postgres(postgres::database().await)).await
    }

    async fn open(directory: Option<tempfile::TempDir>, at: Location) -> Self {
        let store = Store::open(&at, master_key(1)).await.unwrap();
        let entropy = Arc::new(SeededEntropy::new(9));
        Self { _directory: directory, at, store, entropy, clock: Mutex::new(now()) }
    }

    /// Another process's handle on the same database.
    pub async fn another(&self) -> Store {
        Store::open(&self.at, master_key(1)).await.unwrap()
    }

    /// Statements that the store has no function for.
    pub async fn raw(&self, sql: &str) {
        let sql = AssertSqlSafe(sql.to_owned());
        match &self.at {
            Location::Sqlite(path) => {
                let url = format!("sqlite://{}", path.display());
                let mut connection = SqliteConnection::connect(&url).await.unwrap();
                connection.execute(sql).await.unwrap();
                connection.close().await.unwrap();
            }
            Location::Postgres(url) => {
                let mut connection = PgConnection::connect(url.expose()).await.unwrap();
                connection.execute(sql).await.unwrap();
                connection.close().await.unwrap();
            }
        }
    }

    pub fn now(&self) -> Timestamp {
        *self.clock.lock().unwrap()
    }

    /// Lets time pass for leases, tickets, names, messages and turns. PostgreSQL's clock can't be
    /// set, so there they grow older instead.
    pub async fn pass(&self, seconds: i64) {
        let time = SignedDuration::from_secs(seconds);
        *self.clock.lock().unwrap() += time;
        if let Location::Postgres(_) = self.at {
            let micros = time.as_micros();
            for table in ["leases", "tickets", "held_names"] {
                let older = format!("UPDATE {table} SET expires_at = expires_at - {micros}");
                self.raw(&older).await;
            }
            let older = format!("UPDATE servers SET leaves_until = leaves_until - {micros}");
            self.raw(&older).await;
            let older = format!("due_at = due_at - {micros}, give_up_at = give_up_at - {micros}");
            self.raw(&format!("UPDATE outbox SET {older}")).await;
            let older = format!("UPDATE integrations SET due_at = due_at - {micros}");
            self.raw(&older).await;
            let older = format!("UPDATE outbox_lanes SET free_at = free_at - {micros}");
            self.raw(&older).await;
        }
    }

    /// Everything the database holds, as bytes.
    pub async fn everything(&self) -> Vec<u8> {
        match &self.at {
            Location::Sqlite(path) => {
                self.store.close().await;
                std::fs::read(path).unwrap()
            }
            Location::Postgres(url) => {
                let mut connection = PgConnection::connect(url.expose()).await.unwrap();
                let query = "SELECT CAST(database_to_xml(TRUE, FALSE, '') AS TEXT)";
                let dump: String =
                    sqlx::query_scalar(query).fetch_one(&mut connection).await.unwrap();
                dump.into_bytes()
            }
        }
    }

    pub async fn account(&self) -> NewAccount {
        let id = AccountId(self.entropy.uuid());
        let account =
            Account { id, name: "Acme".into(), email: "team@acme.test".into(), created_at: now() };
        let owner = User {
            id: UserId(self.entropy.uuid()),
            account_id: id,
            email: "Team@acme.test".into(),
            name: String::new(),
            tfa_enabled: false,
            role: Role::Admin,
            tags: Tags::default(),
            created_at: now(),
        };
        let new = NewAccount { account, owner };
        let mut work = self.store.begin().await.unwrap();
        accounts::insert(&mut work, &new).await.unwrap();
        work.commit().await.unwrap();
        new
    }

    /// An instance with a network, one server and its disk.
    pub async fn instance(&self, account: AccountId, port: u16) -> (Instance, Server, Disk) {
        let mut work = self.store.begin().await.unwrap();
        let id = InstanceId(work.next("instances").await.unwrap());
        let vpc = vpc(VpcId(work.next("vpcs").await.unwrap()), account);
        let vpc = Vpc { made_for: Some(id), ..vpc };
        vpcs::insert(&mut work, &vpc).await.unwrap();
        let instance = new_instance(id, account, vpc.id, &*self.entropy);
        instances::insert(&mut work, &instance).await.unwrap();
        let server = new_server(ServerId(work.next("servers").await.unwrap()), id, port);
        servers::insert(&mut work, &server).await.unwrap();
        let disk = Disk {
            id: DiskId(self.entropy.uuid()),
            instance_id: id,
            server_id: server.id,
            size_gb: 25,
            made_gb: 25,
            directory_id: kafka_uuid(&*self.entropy),
            founding: true,
            state: DiskState::Planned,
        };
        disks::insert(&mut work, &disk).await.unwrap();
        authorities::insert(&mut work, id, AuthorityKind::Server, "PEM", &Secret::new("ca key"))
            .await
            .unwrap();
        work.commit().await.unwrap();
        (instance, server, disk)
    }
}

pub fn vpc(id: VpcId, account_id: AccountId) -> Vpc {
    Vpc {
        id,
        account_id,
        name: "net".into(),
        region: RegionName("local::this-machine".into()),
        subnet: "10.192.0.0/24".parse().unwrap(),
        tags: Tags::default(),
        provider_id: SeededEntropy::new(3).uuid(),
        made_for: None,
        created_at: now(),
        deleted_at: None,
    }
}

pub fn new_instance(
    id: InstanceId,
    account_id: AccountId,
    vpc_id: VpcId,
    entropy: &dyn Entropy,
) -> Instance {
    Instance {
        id,
        account_id,
        provider_id: entropy.uuid(),
        name: InstanceName::parse("orders").unwrap(),
        plan: PlanName("mouse-1".into()),
        region: RegionName("local::this-machine".into()),
        nodes: 1,
        kafka_version: KafkaVersion::new(4, 3, 1),
        disk_size: None,
        tags: Tags::parse(vec!["a".into(), "b".into()]).unwrap(),
        vpc_id,
        no_default_alarms: true,
        username: entropy.username(),
        password: entropy.password(),
        apikey: entropy.key(),
        hostname: "127.64.0.1".into(),
        cluster_id: kafka_uuid(entropy),
        created_at: now(),
        deleted_at: None,
        stopped: false,
        generation: 1,
        settings: BTreeMap::new(),
        kafka_generation: 0,
        progress: InstanceProgress {
            conditions: vec![Reason::Created.into()],
            ..InstanceProgress::default()
        },
    }
}

pub fn new_server(id: ServerId, instance_id: InstanceId, port: u16) -> Server {
    let listener = |offset| Listener {
        bind_host: "127.64.0.1".into(),
        advertised_host: "127.64.0.1".into(),
        port: port + offset,
    };
    Server {
        id,
        instance_id,
        number: 1,
        node_id: 1,
        incarnation: 1,
        roles: vec![ServerRole::Broker, ServerRole::Controller],
        name: "x-01".into(),
        kafka_version: KafkaVersion::new(4, 3, 1),
        host_id: HostId(SeededEntropy::new(4).uuid()),
        zone: "a".into(),
        private_ip: "127.64.0.1".into(),
        listeners: Listeners {
            plaintext: Some(listener(0)),
            ssl: listener(1),
            sasl_scram: listener(2),
            internal: listener(3),
            controller: listener(4),
            metrics: Some(listener(5)),
            reached_at: None,
            published: None,
        },
        state: ServerState::Planned,
        membership: Membership::Member,
        enrolled_at: None,
        last_seen: None,
        certificate_generation: 1,
        wanted: Wanted::default(),
    }
}
