//! What every database behind the store must do.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

use model::*;
use std::sync::Arc;
use store::*;

struct Fixture {
    _directory: tempfile::TempDir,
    store: Store,
    entropy: Arc<SeededEntropy>,
}

const LIFE: SignedDuration = SignedDuration::from_secs(60);

fn now() -> Timestamp {
    "2026-11-15T12:00:00Z".parse().unwrap()
}

fn master_key(seed: u64) -> MasterKey {
    let entropy = Arc::new(SeededEntropy::new(seed));
    MasterKey::parse(&MasterKey::generate(&*entropy), entropy).unwrap()
}

async fn fixture() -> Fixture {
    let directory = tempfile::tempdir().unwrap();
    let store = Store::open(&directory.path().join("test.db"), master_key(1)).await.unwrap();
    Fixture { _directory: directory, store, entropy: Arc::new(SeededEntropy::new(9)) }
}

impl Fixture {
    async fn account(&self) -> NewAccount {
        let id = AccountId(self.entropy.uuid());
        let account =
            Account { id, name: "Acme".into(), email: "team@acme.test".into(), created_at: now() };
        let owner = User {
            id: UserId(self.entropy.uuid()),
            account_id: id,
            email: "Team@acme.test".into(),
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
    async fn instance(&self, account: AccountId, port: u16) -> (Instance, Server, Disk) {
        let mut work = self.store.begin().await.unwrap();
        let vpc = vpc(VpcId(work.next("vpcs").await.unwrap()), account);
        vpcs::insert(&mut work, &vpc).await.unwrap();
        let id = InstanceId(work.next("instances").await.unwrap());
        let instance = new_instance(id, account, vpc.id, &*self.entropy);
        instances::insert(&mut work, &instance).await.unwrap();
        let server = new_server(ServerId(work.next("servers").await.unwrap()), id, port);
        servers::insert(&mut work, &server).await.unwrap();
        let disk = Disk {
            id: DiskId(self.entropy.uuid()),
            instance_id: id,
            server_id: server.id,
            size_gb: 25,
            directory_id: kafka_uuid(&*self.entropy),
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

fn vpc(id: VpcId, account_id: AccountId) -> Vpc {
    Vpc {
        id,
        account_id,
        name: "net".into(),
        region: RegionName("local::this-machine".into()),
        subnet: "10.192.0.0/24".parse().unwrap(),
        tags: Tags::default(),
        provider_id: SeededEntropy::new(3).uuid(),
        made_for_instance: true,
        created_at: now(),
    }
}

fn new_instance(
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
        username: entropy.username(),
        password: entropy.password(),
        apikey: entropy.key(),
        hostname: "127.64.0.1".into(),
        cluster_id: kafka_uuid(entropy),
        created_at: now(),
        deleted_at: None,
        generation: 1,
        progress: InstanceProgress { status: "new".into(), ..InstanceProgress::default() },
    }
}

fn new_server(id: ServerId, instance_id: InstanceId, port: u16) -> Server {
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
            plaintext: listener(0),
            ssl: listener(1),
            sasl_scram: listener(2),
            internal: listener(3),
            controller: listener(4),
        },
        made: false,
        enrolled_at: None,
        last_seen: None,
        certificate_generation: 1,
    }
}

#[tokio::test]
async fn what_is_written_is_read_back() {
    let f = fixture().await;
    let account = f.account().await;
    let (instance, server, disk) = f.instance(account.account.id, 9000).await;
    let mut reader = f.store.reader();

    assert_eq!(
        accounts::find(&mut reader, account.account.id).await.unwrap().unwrap(),
        account.account
    );
    assert_eq!(
        accounts::find_user(&mut reader, account.owner.id).await.unwrap().unwrap(),
        account.owner
    );
    assert_eq!(instances::find(&mut reader, instance.id).await.unwrap().unwrap(), instance);
    assert_eq!(instances::list(&mut reader, account.account.id).await.unwrap(), [instance.clone()]);
    assert_eq!(servers::list(&mut reader, instance.id).await.unwrap()[0].server, server);
    assert_eq!(disks::list(&mut reader, instance.id).await.unwrap(), [disk]);
    let (certificate, key) =
        authorities::find(&mut reader, instance.id, AuthorityKind::Server).await.unwrap().unwrap();
    assert_eq!((certificate.as_str(), key.expose()), ("PEM", "ca key"));
}

#[tokio::test]
async fn keys_are_found_by_hash_and_secrets_are_not_in_the_file() {
    let f = fixture().await;
    let account = f.account().await;
    let secret = f.entropy.key();
    let key = ApiKey {
        id: KeyId(f.entropy.uuid()),
        user_id: account.owner.id,
        role: Role::Admin,
        tags: Tags::default(),
        comment: "first".into(),
        created_at: now(),
    };
    let mut work = f.store.begin().await.unwrap();
    apikeys::insert(&mut work, &key, &secret).await.unwrap();
    work.commit().await.unwrap();
    let (instance, ..) = f.instance(account.account.id, 9000).await;

    let mut reader = f.store.reader();
    assert_eq!(apikeys::find(&mut reader, &secret).await.unwrap().unwrap(), key);
    assert_eq!(apikeys::find(&mut reader, &instance.apikey).await.unwrap(), None);
    let by_key = instances::find_by_apikey(&mut reader, &instance.apikey).await.unwrap();
    assert_eq!(by_key.unwrap().id, instance.id);

    f.store.close().await;
    let file = std::fs::read(f._directory.path().join("test.db")).unwrap();
    let holds = |text: &str| file.windows(text.len()).any(|window| window == text.as_bytes());
    assert!(holds(&instance.username), "the check looks at the right file");
    for secret in [&secret, &instance.apikey, &instance.password, &Secret::new("ca key")] {
        assert!(!holds(secret.expose()));
    }
}

#[tokio::test]
async fn a_transaction_that_is_dropped_never_was() {
    let f = fixture().await;
    let account = f.account().await;
    let mut changes = f.store.changes();
    let mut work = f.store.begin().await.unwrap();
    let vpc = vpc(VpcId(work.next("vpcs").await.unwrap()), account.account.id);
    vpcs::insert(&mut work, &vpc).await.unwrap();
    work.tell(Change::Instance(InstanceId(1)));
    drop(work);
    assert_eq!(vpcs::list(&mut f.store.reader(), account.account.id).await.unwrap(), []);
    assert!(changes.try_recv().is_err(), "what never was is not told");
}

#[tokio::test]
async fn a_listener_is_given_once() {
    let f = fixture().await;
    let account = f.account().await;
    let (instance, ..) = f.instance(account.account.id, 9000).await;
    let mut work = f.store.begin().await.unwrap();
    let mut second = new_server(ServerId(77), instance.id, 9004);
    (second.number, second.node_id) = (2, 2);
    let refused = servers::insert(&mut work, &second).await;
    assert!(matches!(refused, Err(Error::Conflict(_))), "{refused:?}");
}

#[tokio::test]
async fn a_lease_has_one_holder_and_an_old_one_writes_nothing() {
    let f = fixture().await;
    let account = f.account().await;
    let id = f.instance(account.account.id, 9000).await.0.id;
    let take = async |owner: &str, at: Timestamp| {
        let mut work = f.store.begin().await.unwrap();
        let lease = leases::take(&mut work, id, owner, at, LIFE).await.unwrap();
        work.commit().await.unwrap();
        lease
    };
    let guard = async |lease: &Lease, at: Timestamp| {
        let mut work = f.store.begin().await.unwrap();
        let guarded = leases::guard(&mut work, lease, at, LIFE).await;
        work.commit().await.unwrap();
        guarded
    };
    let first = take("a", now()).await.unwrap();
    assert_eq!(take("b", now()).await, None);
    guard(&first, now() + SignedDuration::from_secs(50)).await.unwrap();

    // Guarding made it last longer; after that it is free.
    assert_eq!(take("b", now() + SignedDuration::from_secs(100)).await, None);
    let late = now() + SignedDuration::from_secs(111);
    assert!(matches!(guard(&first, late).await, Err(Error::LeaseLost(_))));
    let second = take("b", late).await.unwrap();
    assert!(second.epoch > first.epoch);
    assert!(matches!(guard(&first, late).await, Err(Error::LeaseLost(_))));

    // Given back, it is free at once, and the epoch goes on.
    let mut work = f.store.begin().await.unwrap();
    leases::release(&mut work, &second).await.unwrap();
    work.commit().await.unwrap();
    assert!(take("a", late).await.unwrap().epoch > second.epoch);
}

#[tokio::test]
async fn a_wake_up_while_looking_is_not_lost() {
    let f = fixture().await;
    let account = f.account().await;
    let (instance, ..) = f.instance(account.account.id, 9000).await;
    let id = instance.id;
    let later = now() + LIFE;
    let mut reader = f.store.reader();
    assert_eq!(instances::due(&mut reader, now()).await.unwrap(), [id]);

    let seen = instances::wakes(&mut reader, id).await.unwrap();
    let mut work = f.store.begin().await.unwrap();
    instances::wake(&mut work, id, now()).await.unwrap();
    assert!(!instances::rest(&mut work, id, seen, later).await.unwrap());
    let seen = instances::wakes(&mut work, id).await.unwrap();
    assert!(instances::rest(&mut work, id, seen, later).await.unwrap());
    work.commit().await.unwrap();
    assert_eq!(instances::due(&mut reader, now()).await.unwrap(), []);
    assert_eq!(instances::next_due(&mut reader).await.unwrap(), Some(later));
}

#[tokio::test]
async fn a_deleted_instance_is_gone_for_customers_then_for_good() {
    let f = fixture().await;
    let account = f.account().await;
    let (instance, server, disk) = f.instance(account.account.id, 9000).await;
    let mut work = f.store.begin().await.unwrap();
    assert!(instances::set_deleted(&mut work, instance.id, now()).await.unwrap());
    assert!(!instances::set_deleted(&mut work, instance.id, now()).await.unwrap());
    assert_eq!(instances::list(&mut work, account.account.id).await.unwrap(), []);
    assert_eq!(instances::find_by_apikey(&mut work, &instance.apikey).await.unwrap(), None);

    disks::remove(&mut work, disk.id).await.unwrap();
    servers::remove(&mut work, server.id).await.unwrap();
    instances::remove(&mut work, instance.id).await.unwrap();
    vpcs::remove_unused(&mut work, instance.vpc_id).await.unwrap();
    assert_eq!(instances::find(&mut work, instance.id).await.unwrap(), None);
    assert_eq!(servers::taken_listeners(&mut work).await.unwrap(), []);
    assert_eq!(vpcs::list(&mut work, account.account.id).await.unwrap(), []);
    work.commit().await.unwrap();

    let (next, ..) = f.instance(account.account.id, 9000).await;
    assert!(next.id > instance.id, "ids are never reused");
}

#[tokio::test]
async fn the_first_key_keeps_the_token() {
    let f = fixture().await;
    let account = f.account().await;
    let (_, server, _) = f.instance(account.account.id, 9000).await;
    let mut work = f.store.begin().await.unwrap();
    assert!(servers::set_enrolled(&mut work, server.id, "key 1", now()).await.unwrap());
    assert!(servers::set_enrolled(&mut work, server.id, "key 1", now()).await.unwrap());
    assert!(!servers::set_enrolled(&mut work, server.id, "key 2", now()).await.unwrap());
}

#[tokio::test]
async fn another_master_key_and_a_newer_store_are_refused() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("test.db");
    let store = Store::open(&path, master_key(1)).await.unwrap();
    let entropy = SeededEntropy::new(2);
    let installation = Installation {
        id: entropy.uuid(),
        host_id: HostId(entropy.uuid()),
        store_epoch: 1,
        fleet_ca: "PEM".into(),
        fleet_ca_key: Secret::new("fleet key"),
        created_at: now(),
    };
    let mut work = store.begin().await.unwrap();
    installation::insert(&mut work, &installation).await.unwrap();
    work.commit().await.unwrap();
    assert_eq!(installation::find(&mut store.reader()).await.unwrap(), Some(installation));
    store.close().await;

    let other = Store::open(&path, master_key(2)).await.unwrap();
    let refused = installation::find(&mut other.reader()).await.unwrap_err().to_string();
    assert!(refused.contains("give the key that belongs to this store"), "{refused}");
    other.close().await;

    // What a later release would leave behind.
    let options = sqlx::sqlite::SqliteConnectOptions::new().filename(&path);
    let pool = sqlx::SqlitePool::connect_with(options).await.unwrap();
    sqlx::query(
        "INSERT INTO _sqlx_migrations (version, description, success, checksum, execution_time) \
         VALUES (9999, 'later', TRUE, x'00', 0)",
    )
    .execute(&pool)
    .await
    .unwrap();
    pool.close().await;
    let refused = Store::open(&path, master_key(1)).await.unwrap_err().to_string();
    assert!(refused.contains("newer Castellan"), "{refused}");
}
