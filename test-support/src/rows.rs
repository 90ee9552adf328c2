//! What the use cases write: an instance with all its rows, and changes of
//! mind. Shared by every test of the engine; one store may serve many instances.

mod resized;

use model::*;
use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex};
use store::{
    AuthorityKind, Installation, Location, MasterKey, NewAccount, NewAction, ServerRecord, Store,
    Work, accounts, actions, authorities, disk_guards, disks, installation, instances, servers,
    vpcs,
};

const REGION: &str = "local::this-machine";

pub struct Rows {
    pub directory: Arc<tempfile::TempDir>,
    pub store: Store,
    pub clock: Arc<ManualClock>,
    pub entropy: Arc<SeededEntropy>,
    pub installation: Installation,
    pub catalogue: Arc<Catalogue>,
    account: AccountId,
    authorities: Arc<Vec<pki::Authority>>,
    requests: Arc<Mutex<VecDeque<String>>>,
}

/// More than an instance asks for at a time, so that a request that comes
/// again is never taken for an earlier one.
const REQUESTS: usize = 64;

impl Rows {
    pub async fn new() -> Self {
        // Nothing here outlives the test, so it need not reach a real disk.
        let memory = std::path::Path::new("/dev/shm");
        let directory =
            tempfile::tempdir_in(memory).or_else(|_| tempfile::tempdir()).expect("a directory");
        let at = Location::Sqlite(directory.path().join("test.db"));
        Self::open(directory, &at, beginning()).await
    }

    /// In a database of its own, which has a clock of its own: `now` should be about that.
    pub async fn on_postgres(at: &Location, now: Timestamp) -> Self {
        Self::open(tempfile::tempdir().expect("a directory"), at, now).await
    }

    async fn open(directory: tempfile::TempDir, at: &Location, now: Timestamp) -> Self {
        let directory = Arc::new(directory);
        let entropy = Arc::new(SeededEntropy::new(5));
        let key = MasterKey::parse(&MasterKey::generate(&*entropy), entropy.clone()).unwrap();
        let store = Store::open(at, key).await.unwrap();
        let fleet = pki::Authority::create("fleet", now, &*entropy).unwrap();
        let installation = Installation {
            id: entropy.uuid(),
            host_id: HostId(entropy.uuid()),
            store_epoch: 1,
            fleet_ca: fleet.certificate,
            fleet_ca_key: fleet.key,
            created_at: now,
        };
        let account = new_account(AccountId(entropy.uuid()), &*entropy, now);
        let mut work = store.begin().await.unwrap();
        installation::insert(&mut work, &installation).await.unwrap();
        accounts::insert(&mut work, &account).await.unwrap();
        work.commit().await.unwrap();
        let made = pki::ClusterAuthorities::create("test", now, &*entropy).unwrap();
        // In the order of `AuthorityKind::ALL`.
        let authorities = Arc::new(vec![made.internal, made.root, made.server, made.client]);
        let clock = Arc::new(ManualClock::at(now));
        let account = account.account.id;
        let catalogue = Arc::new(Catalogue::built_in());
        let requests = Arc::default();
        Self {
            directory,
            store,
            clock,
            entropy,
            installation,
            catalogue,
            account,
            authorities,
            requests,
        }
    }

    /// The same store at the beginning of time, with chance of its own: what
    /// happened there before has no influence, as long as nothing is left.
    pub fn again(&self, seed: u64) -> Self {
        Self {
            directory: self.directory.clone(),
            store: self.store.clone(),
            clock: Arc::new(ManualClock::at(beginning())),
            entropy: Arc::new(SeededEntropy::new(seed)),
            installation: self.installation.clone(),
            catalogue: self.catalogue.clone(),
            account: self.account,
            authorities: self.authorities.clone(),
            requests: self.requests.clone(),
        }
    }

    /// A certificate request for another key than the last ones. Keys are slow
    /// to make, so they come again after a while.
    pub fn request(&self) -> String {
        let mut requests = self.requests.lock().unwrap();
        let request = match requests.len() {
            REQUESTS => requests.pop_front().unwrap(),
            _ => pki::request(&pki::KeyPair::generate(), "whoever").unwrap(),
        };
        requests.push_back(request.clone());
        request
    }

    pub async fn create(&self, servers: u32) -> Instance {
        let now = self.clock.now();
        let mut work = self.store.begin().await.unwrap();
        let vpc_id = VpcId(work.next("vpcs").await.unwrap());
        let id = InstanceId(work.next("instances").await.unwrap());
        vpcs::insert(&mut work, &self.new_vpc(vpc_id, id)).await.unwrap();
        let instance = Instance { nodes: servers, ..self.new_instance(id, vpc_id) };
        instances::insert(&mut work, &instance).await.unwrap();
        for (kind, ca) in AuthorityKind::ALL.into_iter().zip(&*self.authorities) {
            authorities::insert(&mut work, id, kind, &ca.certificate, &ca.key).await.unwrap();
        }
        for number in 1..=servers {
            let server_id = ServerId(work.next("servers").await.unwrap());
            let server = self.new_server(server_id, id, number);
            servers::insert(&mut work, &server).await.unwrap();
            let disk = self.new_disk(id, server_id);
            disks::insert(&mut work, &disk).await.unwrap();
        }
        instances::wake(&mut work, id, now).await.unwrap();
        work.commit().await.unwrap();
        instance
    }

    fn new_disk(&self, instance_id: InstanceId, server_id: ServerId) -> Disk {
        Disk {
            id: DiskId(self.entropy.uuid()),
            instance_id,
            server_id,
            size_gb: 25,
            made_gb: 25,
            directory_id: kafka_uuid(&*self.entropy),
            founding: true,
            state: DiskState::Planned,
        }
    }

    fn new_vpc(&self, id: VpcId, made_for: InstanceId) -> Vpc {
        Vpc {
            id,
            account_id: self.account,
            name: "net".into(),
            region: RegionName(REGION.into()),
            subnet: "10.192.0.0/24".parse().unwrap(),
            tags: Tags::default(),
            provider_id: self.entropy.uuid(),
            made_for: Some(made_for),
            created_at: self.clock.now(),
            deleted_at: None,
        }
    }

    fn new_instance(&self, id: InstanceId, vpc_id: VpcId) -> Instance {
        let entropy = &*self.entropy;
        Instance {
            id,
            account_id: self.account,
            provider_id: entropy.uuid(),
            name: InstanceName::parse("orders").unwrap(),
            plan: PlanName("mouse-1".into()),
            region: RegionName(REGION.into()),
            nodes: 1,
            kafka_version: KafkaVersion::new(4, 3, 1),
            disk_size: None,
            tags: Tags::default(),
            vpc_id,
            no_default_alarms: false,
            username: entropy.username(),
            password: entropy.password(),
            apikey: entropy.key(),
            hostname: "127.64.0.1".into(),
            cluster_id: kafka_uuid(entropy),
            created_at: self.clock.now(),
            deleted_at: None,
            stopped: false,
            generation: 1,
            settings: BTreeMap::new(),
            kafka_generation: 0,
            progress: InstanceProgress {
                conditions: vec![Reason::Created.into()],
                ..Default::default()
            },
        }
    }

    fn new_server(&self, id: ServerId, instance_id: InstanceId, number: u32) -> Server {
        let address = format!("127.64.{instance_id}.{number}");
        let listener =
            |port| Listener { bind_host: address.clone(), advertised_host: address.clone(), port };
        let controller = (number <= 3).then_some(ServerRole::Controller);
        Server {
            id,
            instance_id,
            number,
            node_id: i32::try_from(number).unwrap(),
            incarnation: 1,
            roles: [ServerRole::Broker].into_iter().chain(controller).collect(),
            name: format!("x-0{number}"),
            kafka_version: KafkaVersion::new(4, 3, 1),
            host_id: self.installation.host_id,
            zone: "a".into(),
            private_ip: address.clone(),
            listeners: Listeners {
                plaintext: Some(listener(9092)),
                ssl: listener(9093),
                sasl_scram: listener(9094),
                internal: listener(9091),
                controller: listener(9090),
                metrics: Some(listener(9404)),
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

    pub async fn instance(&self, id: InstanceId) -> Option<Instance> {
        instances::find(&mut self.store.reader(), id).await.unwrap()
    }

    pub async fn delete(&self, id: InstanceId) {
        let mut work = self.store.begin().await.unwrap();
        let now = self.clock.now();
        instances::set_deleted(&mut work, id, now).await.unwrap();
        if let Some(instance) = instances::find(&mut work, id).await.unwrap() {
            vpcs::release(&mut work, instance.vpc_id, id, false, now).await.unwrap();
        }
        work.commit().await.unwrap();
    }

    /// As the use case does: the serial of a certificate that was issued and is
    /// revoked now.
    pub async fn revoke(&self, id: InstanceId) -> String {
        let now = self.clock.now();
        let certificate = Certificate {
            serial: "4f".repeat(16).parse().unwrap(),
            cn: UserName::parse("orders").unwrap(),
            issued_at: now,
            expires_at: now + SignedDuration::from_hours(24),
            revoked_at: Some(now),
        };
        let mut work = self.store.begin().await.unwrap();
        store::certificates::insert(&mut work, id, &certificate).await.unwrap();
        instances::wake(&mut work, id, now).await.unwrap();
        work.commit().await.unwrap();
        certificate.serial.to_string()
    }

    pub async fn stop(&self, id: InstanceId, stopped: bool) {
        let mut work = self.store.begin().await.unwrap();
        instances::set_stopped(&mut work, id, stopped, self.clock.now()).await.unwrap();
        work.commit().await.unwrap();
    }

    /// Has these servers restarted; none: all of them.
    pub async fn restart(&self, id: InstanceId, which: &[ServerId]) {
        let mut work = self.store.begin().await.unwrap();
        for record in servers::list(&mut work, id).await.unwrap() {
            if which.is_empty() || which.contains(&record.server.id) {
                let wanted = record.server.wanted.restart(0).unwrap_or(record.server.wanted);
                servers::set_wanted(&mut work, record.server.id, wanted).await.unwrap();
            }
        }
        let all = which.is_empty();
        let kind = if all { ActionKind::ClusterRestart } else { ActionKind::Restart };
        self.act(work, id, kind, which).await;
    }

    /// Has the agents of these servers enrol anew; none: of all of them.
    pub async fn re_enrol(&self, id: InstanceId, which: &[ServerId]) {
        let now = self.clock.now();
        let mut work = self.store.begin().await.unwrap();
        for record in servers::list(&mut work, id).await.unwrap() {
            if which.is_empty() || which.contains(&record.server.id) {
                servers::raise_incarnation(&mut work, record.server.id, now).await.unwrap();
            }
        }
        if instances::find(&mut work, id).await.unwrap().is_some() {
            instances::wake(&mut work, id, now).await.unwrap();
        }
        work.commit().await.unwrap();
    }

    /// Has one server stop, or start again.
    pub async fn stop_server(&self, id: InstanceId, server: ServerId, stopped: bool) {
        let mut work = self.store.begin().await.unwrap();
        let row = servers::find_bare(&mut work, server).await.unwrap().unwrap();
        let moved = if stopped { row.wanted.stop() } else { row.wanted.start() };
        servers::set_wanted(&mut work, server, moved.unwrap_or(row.wanted)).await.unwrap();
        let kind = if stopped { ActionKind::Stop } else { ActionKind::Start };
        self.act(work, id, kind, &[server]).await;
    }

    /// Has every disk become larger, as asked of a customer.
    pub async fn grow_disks(&self, id: InstanceId) {
        let mut work = self.store.begin().await.unwrap();
        let Some(instance) = instances::find(&mut work, id).await.unwrap() else { return };
        let present = disks::list(&mut work, id).await.unwrap();
        let size_gb = present.iter().map(|disk| disk.size_gb).max().unwrap_or_default() + 10;
        disks::grow(&mut work, id, size_gb).await.unwrap();
        let now = self.clock.now();
        let action = NewAction {
            instance_id: id,
            kind: ActionKind::ResizeDisk,
            servers: &[],
            asked_by: "a@acme.test",
            source: "cli".into(),
            generation: instance.generation,
        };
        actions::insert(&mut work, &action, now).await.unwrap();
        instances::wake(&mut work, id, now).await.unwrap();
        work.commit().await.unwrap();
    }

    /// Has all brokers run with these settings, none of which takes a restart.
    pub async fn set_settings(&self, id: InstanceId, chosen: &[(&str, &str)]) {
        let owned = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        let settings: BTreeMap<String, String> = chosen.iter().map(owned).collect();
        let mut work = self.store.begin().await.unwrap();
        instances::set_settings(&mut work, id, &settings).await.unwrap();
        instances::raise(&mut work, id, self.clock.now()).await.unwrap();
        work.commit().await.unwrap();
    }

    /// Has the server's disk be as full as that; none: it has room.
    pub async fn set_disk_level(&self, server: &Server, level: Option<DiskLevel>) {
        let (server_id, instance_id, since) = (server.id, server.instance_id, self.clock.now());
        let mut work = self.store.begin().await.unwrap();
        match level {
            None => disk_guards::remove(&mut work, server_id).await.unwrap(),
            Some(level) => {
                let guard = DiskGuard { instance_id, server_id, level, since };
                disk_guards::set(&mut work, &guard).await.unwrap();
            }
        }
        instances::wake(&mut work, instance_id, since).await.unwrap();
        work.commit().await.unwrap();
    }

    async fn act(&self, mut work: Work, id: InstanceId, kind: ActionKind, which: &[ServerId]) {
        let now = self.clock.now();
        let generation = instances::raise(&mut work, id, now).await.unwrap();
        if generation > 0 {
            let (asked_by, source) = ("a@acme.test", "cli".to_owned());
            let mut all = servers::list(&mut work, id).await.unwrap();
            all.retain(|record| which.contains(&record.server.id));
            let servers: Vec<u32> = all.iter().map(|record| record.server.number).collect();
            let action = NewAction {
                instance_id: id,
                kind,
                servers: &servers,
                asked_by,
                source,
                generation,
            };
            actions::insert(&mut work, &action, now).await.unwrap();
        }
        work.commit().await.unwrap();
    }

    pub async fn servers(&self, id: InstanceId) -> Vec<ServerRecord> {
        servers::list(&mut self.store.reader(), id).await.unwrap()
    }

    pub async fn disks(&self, id: InstanceId) -> Vec<Disk> {
        disks::list(&mut self.store.reader(), id).await.unwrap()
    }
}

fn beginning() -> Timestamp {
    "2026-11-15T12:00:00Z".parse().unwrap()
}

fn new_account(id: AccountId, entropy: &dyn Entropy, now: Timestamp) -> NewAccount {
    NewAccount {
        account: Account { id, name: "Acme".into(), email: "a@acme.test".into(), created_at: now },
        owner: User {
            id: UserId(entropy.uuid()),
            account_id: id,
            email: "a@acme.test".into(),
            name: String::new(),
            tfa_enabled: false,
            role: Role::Admin,
            tags: Tags::default(),
            created_at: now,
        },
    }
}
