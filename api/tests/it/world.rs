//! A whole control plane without an engine: every test owns one.

use crate::call::Call;
use app::integrations::IntegrationTester;
use app::{
    Addresses, App, Clouds, Destinations, Limits, NoPlace, Parts, Place, Places, RegionCloud,
    Settings, Source, SourceKind,
};
use async_trait::async_trait;
use axum::Router;
use ipnet::Ipv4Net;
use kafka::client::messages::{NewMessage, WriteMessages};
use kafka::client::quotas::{Name, QuotaEntity, QuotaKey};
use kafka::client::{Acl, Admin as _, NewTopic, Operation, PatternType, Permission, ResourceType};
use kafka::client::{Groups as _, Messages as _, Quotas as _, TopicPartition};
use kafka::simulated::{SimKafka, SimNode, Timing};
use model::{
    AccountId, ApiKey, Catalogue, Condition, Entropy as _, HostId, Instance, InstanceId,
    Integration, KeyId, Listener, Listeners, Mail, ManualClock, Month, Reason, Region, Role,
    Secret, SeededEntropy, Session, SessionId, SignedDuration, Tags, User, UserId,
};
use serde_json::json;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use store::{Installation, Location, MasterKey, Store};
use test_support::postgres;
use web::{Options, RateLimit, RateLimits};

pub struct World {
    pub app: App,
    pub clock: Arc<ManualClock>,
    /// Every cluster there is; without nodes until a test adds some.
    pub kafka: Arc<SimKafka>,
    pub customer: Router,
    pub instance: Router,
    pub agent: Router,
    pub account: AccountId,
    /// Of the account's owner, an admin.
    pub key: Secret,
    pub places: Arc<Loopback>,
    entropy: Arc<SeededEntropy>,
    settings: Settings,
    /// Of the store.
    pub at: Location,
    _data: tempfile::TempDir,
}

impl World {
    pub async fn new() -> Self {
        let limits =
            Limits { instances: 0, servers: 0, vpcs: 0, creates_per_day: 0, ..Limits::default() };
        Self::with(Settings { limits, ..Settings::default() }).await
    }

    pub async fn with(settings: Settings) -> Self {
        let data = tempfile::tempdir().unwrap();
        let at = location(data.path()).await;
        Self::at(&at, data, settings).await
    }

    /// On a database of a real PostgreSQL.
    pub async fn on_postgres() -> Self {
        let at = Location::Postgres(postgres::database().await);
        Self::at(&at, tempfile::tempdir().unwrap(), Settings::default()).await
    }

    /// With this store; the directory goes with the world.
    pub async fn at(at: &Location, data: tempfile::TempDir, settings: Settings) -> Self {
        let entropy = Arc::new(SeededEntropy::new(7));
        let clock = Arc::new(ManualClock::at("2026-11-15T12:00:00Z".parse().unwrap()));
        let master = MasterKey::parse(&MasterKey::generate(&*entropy), entropy.clone()).unwrap();
        let store = Store::open(at, master).await.unwrap();
        let installation = install(&store, &clock, &entropy).await;
        let places = Arc::new(Loopback { host: installation.host_id, stale: AtomicU32::new(0) });
        let kafka = Arc::new(SimKafka::new(clock.clone(), 1, Timing::default()));
        let app = App::new(Parts {
            store,
            admin: kafka.clone(),
            catalogue: Arc::new(Catalogue::built_in()),
            clock: clock.clone(),
            entropy: entropy.clone(),
            clouds: clouds(&Catalogue::built_in(), &places),
            destinations: Arc::new(Public),
            integration_tester: Arc::new(Elsewhere),
            settings: settings.clone(),
            installation,
        });
        let source = Source { kind: SourceKind::Cli, address: None };
        let created =
            app::accounts::create(source, &app, "Acme", "owner@example.test").await.unwrap();
        let rate_limit = RateLimit::new(RateLimits::OFF);
        let options = Options { rate_limit, ..Options::default() };
        let routers = [api::customer_router, api::instance_router, api::agent_router]
            .map(|router| router(app.clone(), options.clone()));
        let [customer, instance, agent] = routers;
        Self {
            app,
            clock,
            kafka,
            customer,
            instance,
            agent,
            account: created.account.id,
            key: created.apikey,
            places,
            entropy,
            settings,
            at: at.clone(),
            _data: data,
        }
    }

    /// The Customer API on the same store, as after a start with that catalogue.
    pub fn customer_with(&self, catalogue: Catalogue) -> Router {
        let app = self.restarted(catalogue, self.settings.clone());
        let rate_limit = RateLimit::new(RateLimits::OFF);
        api::customer_router(app, Options { rate_limit, ..Options::default() })
    }

    /// What agents call on the same store, as after a start with these settings.
    pub async fn agent_with(&self, settings: Settings) -> Router {
        let app = self.restarted(Catalogue::built_in(), settings);
        app::agents::settle_outbound(&app).await.unwrap();
        api::agent_router(app, Options::default())
    }

    fn restarted(&self, catalogue: Catalogue, settings: Settings) -> App {
        App::new(Parts {
            store: self.app.store().clone(),
            admin: self.kafka.clone(),
            clouds: clouds(&catalogue, &self.places),
            catalogue: Arc::new(catalogue),
            clock: self.clock.clone(),
            entropy: self.entropy.clone(),
            destinations: Arc::new(Public),
            integration_tester: Arc::new(Elsewhere),
            settings,
            installation: self.app.installation().clone(),
        })
    }

    /// The key of another account's admin.
    pub async fn stranger(&self) -> Secret {
        let source = Source { kind: SourceKind::Cli, address: None };
        let created = app::accounts::create(source, &self.app, "Other", "other@example.test").await;
        created.unwrap().apikey
    }

    /// The key of a new member of the team.
    pub async fn member(&self, role: Role, tags: &[&str]) -> Secret {
        let email = format!("{}@example.test", self.entropy.username());
        self.user(&email, role, tags).await.1
    }

    /// A new member of the team, with their key.
    pub async fn user(&self, email: &str, role: Role, tags: &[&str]) -> (UserId, Secret) {
        let tags = Tags::parse(tags.iter().map(ToString::to_string).collect()).unwrap();
        let created_at = "2026-11-15T12:00:00Z".parse().unwrap();
        let user = User {
            id: UserId(self.entropy.uuid()),
            account_id: self.account,
            email: email.into(),
            name: String::new(),
            tfa_enabled: false,
            role,
            tags: tags.clone(),
            created_at,
        };
        let key = ApiKey {
            id: KeyId(self.entropy.uuid()),
            user_id: user.id,
            role,
            tags,
            comment: "of a test".into(),
            created_at,
            expires_at: None,
            last_used_at: None,
            last_used_from: None,
        };
        let secret = self.entropy.key();
        let mut work = self.app.store().begin().await.unwrap();
        store::users::insert(&mut work, &user).await.unwrap();
        store::apikeys::insert(&mut work, &key, &secret).await.unwrap();
        work.commit().await.unwrap();
        (user.id, secret)
    }

    /// Which key this is.
    pub async fn key_id(&self, key: &Secret) -> KeyId {
        let found = store::apikeys::find(&mut self.app.store().reader(), key).await.unwrap();
        found.unwrap().id
    }

    /// The owner of this key is signed in to the console.
    pub async fn session_of(&self, key: &Secret) -> SessionId {
        let mut work = self.app.store().begin().await.unwrap();
        let key = store::apikeys::find(&mut work, key).await.unwrap().unwrap();
        let session = Session {
            id: SessionId(self.entropy.uuid()),
            user_id: key.user_id,
            by_link: false,
            started_at: self.app.now(),
            last_seen_at: self.app.now(),
            address: Some("192.0.2.7".parse().unwrap()),
            browser: "Firefox".into(),
        };
        store::sessions::insert(&mut work, &session, &self.entropy.key()).await.unwrap();
        work.commit().await.unwrap();
        session.id
    }

    /// One more key of the account's owner.
    pub async fn second_key(&self) -> KeyId {
        let call = Call::post("/api/apikeys").key(&self.key).json(&json!({"comment": "spare"}));
        let made = call.send(&self.customer).await;
        assert_eq!(made.status, 200, "{}", made.text);
        made.json()["id"].as_str().unwrap().parse().unwrap()
    }

    /// The mails that wait to be sent; from here on they are sent.
    pub async fn mails(&self) -> Vec<Mail> {
        let mut work = self.app.store().begin().await.unwrap();
        let taken = take_due(&mut work, self.app.now()).await;
        for message in &taken {
            store::outbox::set_sent(&mut work, message).await.unwrap();
        }
        work.commit().await.unwrap();
        let read = |message: &store::Message| {
            serde_json::from_str(message.body.as_ref().unwrap().expose()).unwrap()
        };
        taken.iter().map(read).collect()
    }

    pub async fn create(&self, name: &str, tags: &[&str]) -> Instance {
        self.create_of("mouse-1", name, tags).await
    }

    pub async fn create_of(&self, plan: &str, name: &str, tags: &[&str]) -> Instance {
        let body = json!({
            "name": name, "plan": plan, "region": "local::this-machine", "tags": tags,
        });
        let answer = Call::post("/api/instances").key(&self.key).json(&body);
        let answer = answer.send(&self.customer).await;
        assert_eq!(answer.status, 200, "{}", answer.text);
        self.load(answer.json()["id"].as_i64().unwrap()).await
    }

    /// The id of a network that stands alone.
    pub async fn create_vpc(&self, name: &str, subnet: &str) -> i64 {
        let body = json!({"name": name, "region": "local::this-machine", "subnet": subnet});
        let answer = Call::post("/api/vpcs").key(&self.key).json(&body).send(&self.customer).await;
        assert_eq!(answer.status, 200, "{}", answer.text);
        answer.json()["id"].as_i64().unwrap()
    }

    /// The account's audit log, a line each, without its times.
    pub async fn audit(&self) -> Vec<String> {
        let mut reader = self.app.store().reader();
        let lines = store::audit::list(&mut reader, self.account).await.unwrap();
        let shown = |line: &store::AuditLine| {
            format!("{} {} {} {}", line.event, line.source, line.user, line.extras)
        };
        lines.iter().map(shown).collect()
    }

    pub async fn load(&self, id: i64) -> Instance {
        let mut reader = self.app.store().reader();
        store::instances::find(&mut reader, InstanceId(id)).await.unwrap().unwrap()
    }

    /// Lets the month end and its invoices be issued.
    pub async fn issue_month(&self) {
        let now = model::Clock::now(&*self.clock);
        self.clock.advance(Month::containing(now).end().duration_since(now));
        app::billing::issue_due(&self.app).await.unwrap();
    }

    /// What the engine would write once servers have reached what was asked for
    /// and a login succeeded.
    pub async fn make_ready(&self, id: InstanceId) {
        let Instance { generation, mut progress, .. } = self.load(id.0).await;
        progress.ready_at = Some("2026-11-15T12:00:10Z".parse().unwrap());
        progress.observed_generation = generation;
        progress.conditions = vec![Reason::Running.into()];
        let mut work = self.app.store().begin().await.unwrap();
        store::instances::set_progress(&mut work, id, &progress).await.unwrap();
        store::actions::end(&mut work, id, generation, self.app.now()).await.unwrap();
        work.commit().await.unwrap();
    }

    /// What the engine would write while a cluster that was stopped starts.
    pub async fn make_unready(&self, id: InstanceId, condition: Condition) {
        let mut progress = self.load(id.0).await.progress;
        progress.ready_at = None;
        progress.conditions = vec![condition];
        let mut work = self.app.store().begin().await.unwrap();
        store::instances::set_progress(&mut work, id, &progress).await.unwrap();
        work.commit().await.unwrap();
    }

    /// What the engine and its agents would have made of an instance: a Kafka
    /// that runs, with these topics of a partition each.
    pub async fn run_kafka(&self, instance: &Instance, topics: &[NewTopic]) {
        let servers = self.servers(instance.id).await;
        let voters = servers.iter().filter(|server| server.is_controller());
        self.kafka.found(&voters.map(|server| server.node_id).collect());
        for server in &servers {
            self.kafka.add_node(SimNode {
                id: server.node_id,
                roles: server.roles.clone(),
                internal: (&server.listeners.internal).into(),
                sasl: (&server.listeners.sasl_scram).into(),
            });
            self.kafka.start(server.node_id);
        }
        self.pass_time();
        let cluster = self.app.reach().cluster(instance.id, &servers).await.unwrap();
        for topic in topics {
            self.kafka.create_topic(&cluster, topic).await.unwrap();
        }
        self.pass_time();
    }

    /// A user of a cluster that runs, who may read the topic `orders`; beside the
    /// default user, whom the engine would have let in.
    pub async fn admit(&self, instance: &Instance, user: &str) {
        let servers = self.servers(instance.id).await;
        let cluster = self.app.reach().cluster(instance.id, &servers).await.unwrap();
        for (user, password) in
            [(user, self.entropy.password()), (&*instance.username, instance.password.clone())]
        {
            self.kafka.set_scram_user(&cluster, user, &password).await.unwrap();
        }
        let acl = Acl {
            resource_type: ResourceType::Topic,
            pattern: "orders".into(),
            pattern_type: PatternType::Literal,
            principal: format!("User:{user}"),
            operation: Operation::Read,
            permission: Permission::Allow,
        };
        let mut all = kafka::rights::of_default_user(&instance.username);
        all.push(acl);
        self.kafka.add_acls(&cluster, &all).await.unwrap();
        self.pass_time();
    }

    /// What customers do: two messages in `orders`, a group `billing` that has
    /// read one of them, and a quota of the user `ada`.
    pub async fn use_cluster(&self, instance: &Instance) {
        let servers = self.servers(instance.id).await;
        let cluster = self.app.reach().cluster(instance.id, &servers).await.unwrap();
        for value in ["ordered", "shipped"] {
            let message = NewMessage {
                key: Some("17".into()),
                value: Some(value.into()),
                ..NewMessage::default()
            };
            let (topic, at) = ("orders".to_owned(), self.app.now());
            let (messages, within) = (vec![message], std::time::Duration::from_secs(1));
            let what = WriteMessages { topic, messages, at, turn: 0, within, producer: None };
            self.kafka.write_messages(&cluster, &what).await.unwrap().unwrap();
        }
        let read = [(TopicPartition::new("orders", 0), 1)].into();
        self.kafka.commit_offsets(&cluster, "billing", &read).await.unwrap();
        let ada = QuotaEntity { user: Some(Name::Of("ada".into())), client_id: None };
        let limit = [(QuotaKey::ProducerByteRate, Some(1_048_576.0))].into();
        self.kafka.alter_quota(&cluster, &ada, &limit).await.unwrap();
        self.pass_time();
    }

    /// So much that whatever goes on in a simulated Kafka has ended.
    pub fn pass_time(&self) {
        for _ in 0..20 {
            self.clock.advance(model::SignedDuration::from_secs(1));
            self.kafka.calls();
        }
    }

    /// One of a shared plan, which can't be ordered yet: a copy of another.
    pub async fn share(&self, instance: &Instance) -> Instance {
        let mut work = self.app.store().begin().await.unwrap();
        let shared = Instance {
            id: InstanceId(work.next("instances").await.unwrap()),
            plan: model::PlanName("ducky".into()),
            username: self.entropy.username(),
            apikey: self.entropy.key(),
            provider_id: self.entropy.uuid(),
            ..instance.clone()
        };
        store::instances::insert(&mut work, &shared).await.unwrap();
        work.commit().await.unwrap();
        shared
    }

    /// The last action that was asked of an instance.
    pub async fn last_action(&self, id: InstanceId) -> model::Action {
        let mut reader = self.app.store().reader();
        let last = store::actions::list(&mut reader, id, 1).await.unwrap();
        last.into_iter().next().unwrap()
    }

    /// As if the brokers of these servers had been stopped before.
    pub async fn set_stopped(&self, instance: &Instance, numbers: &[u32]) {
        let servers = self.servers(instance.id).await;
        let mut work = self.app.store().begin().await.unwrap();
        for server in servers.iter().filter(|server| numbers.contains(&server.number)) {
            let wanted = server.wanted.stop().unwrap();
            store::servers::set_wanted(&mut work, server.id, wanted).await.unwrap();
        }
        work.commit().await.unwrap();
    }

    pub async fn servers(&self, id: InstanceId) -> Vec<model::Server> {
        store::servers::list_bare(&mut self.app.store().reader(), id).await.unwrap()
    }
}

/// A store of its own: a SQLite file, or a database of a real PostgreSQL where
/// the environment asks for that.
async fn location(directory: &Path) -> Location {
    if on_postgres() {
        return Location::Postgres(postgres::database().await);
    }
    Location::Sqlite(directory.join("store.db"))
}

/// Which of the two databases the suite runs on.
pub fn on_postgres() -> bool {
    match std::env::var("CASTELLAN_TEST_DATABASE").as_deref() {
        Ok("postgres") => true,
        Ok(other) => panic!("CASTELLAN_TEST_DATABASE is {other:?}, not postgres"),
        Err(_) => false,
    }
}

async fn install(store: &Store, clock: &ManualClock, entropy: &SeededEntropy) -> Installation {
    let now = model::Clock::now(clock);
    let fleet = pki::Authority::create("Castellan fleet CA", now, entropy).unwrap();
    let installation = Installation {
        id: entropy.uuid(),
        host_id: HostId(entropy.uuid()),
        store_epoch: 1,
        fleet_ca: fleet.certificate,
        fleet_ca_key: fleet.key,
        created_at: now,
    };
    let mut work = store.begin().await.unwrap();
    store::installation::insert(&mut work, &installation).await.unwrap();
    work.commit().await.unwrap();
    installation
}

/// A loopback address for each server. Some regions fail on purpose.
pub struct Loopback {
    host: HostId,
    /// How many proposals are still made from an outdated view.
    pub stale: AtomicU32,
}

impl World {
    /// Sets the clock back, which the engine notices within a second.
    pub async fn set_back(&self, by: SignedDuration) {
        self.clock.advance(-by);
        let mut work = self.app.store().begin().await.unwrap();
        let (host, now) = (self.places.host, self.app.now());
        store::set_back::look_again(&mut work, host, now).await.unwrap();
        work.commit().await.unwrap();
    }
}

/// Everything that is due in the outbox; it is taken by that.
pub async fn take_due(work: &mut store::Work, now: model::Timestamp) -> Vec<store::Message> {
    let lease = model::SignedDuration::from_secs(1);
    let mut taken = Vec::new();
    for due in store::outbox::due(work, 100, now).await.unwrap() {
        taken.extend(store::outbox::take(work, &due, "test", now, lease).await.unwrap());
    }
    taken
}

/// Everything that people are told and waits in the outbox; it is sent by that.
pub async fn tellings(app: &App) -> Vec<model::QueuedNotification> {
    let mut told = Vec::new();
    loop {
        let mut work = app.store().begin().await.unwrap();
        let taken = take_due(&mut work, app.now()).await;
        for message in &taken {
            let body = message.body.as_ref().unwrap().expose();
            told.push(serde_json::from_str(body).unwrap());
            store::outbox::set_sent(&mut work, message).await.unwrap();
        }
        work.commit().await.unwrap();
        if taken.is_empty() {
            return told;
        }
    }
}

/// Everything but this machine may be called.
struct Public;

#[async_trait]
impl Destinations for Public {
    async fn may_call(&self, url: &model::Url) -> Result<(), String> {
        match url.host_str() {
            Some(host) if host.starts_with("127.") => Err(format!("leads to {host}")),
            _ => Ok(()),
        }
    }
}

/// Every system takes what is sent, but by a key that says otherwise.
struct Elsewhere;

#[async_trait]
impl IntegrationTester for Elsewhere {
    async fn test(
        &self,
        origin: &ship::Origin,
        integration: &Integration,
    ) -> Result<String, String> {
        let Integration { kind, system, config, .. } = integration;
        if config.values().any(|value| value.expose() == "refused") {
            return Err(format!("{system} refused the key"));
        }
        Ok(format!("{system} took {kind} of {}", origin.instance.name))
    }
}

#[async_trait]
impl Places for Loopback {
    async fn propose(
        &self,
        region: &Region,
        taken: &[(String, u16)],
        count: usize,
    ) -> Result<Vec<Place>, NoPlace> {
        match region.provider.as_str() {
            "azure-arm" => panic!("a fault of ours"),
            "google-compute-engine" => {
                return Err(NoPlace("This machine has 1 GB left of 8 GB".into()));
            }
            _ => {}
        }
        let late = |left: u32| left.checked_sub(1);
        let stale = self.stale.fetch_update(Ordering::SeqCst, Ordering::SeqCst, late).is_ok();
        let free = (1..=2 * 254)
            .map(|number| format!("127.64.{}.{}", number / 255, number % 255 + number / 255))
            .filter(|address| stale || !taken.iter().any(|(host, _)| host == address));
        Ok(free.take(count).map(|address| place(self.host, &address)).collect())
    }

    fn host_networks(&self) -> Vec<Ipv4Net> {
        vec!["172.17.0.0/16".parse().unwrap()]
    }
}

fn place(host_id: HostId, address: &str) -> Place {
    let listener =
        |port| Listener { bind_host: address.into(), advertised_host: address.into(), port };
    let listeners = Listeners {
        plaintext: Some(listener(9092)),
        ssl: listener(9093),
        sasl_scram: listener(9094),
        internal: listener(9095),
        controller: listener(9096),
        metrics: Some(listener(9404)),
    };
    let addresses = Addresses { private_ip: address.into(), listeners };
    Place { host_id, zone: "a".into(), addresses }
}

/// One cloud for all regions.
fn clouds(catalogue: &Catalogue, places: &Arc<Loopback>) -> Clouds<RegionCloud> {
    let cloud = RegionCloud { places: places.clone(), room: None };
    Clouds::bind(catalogue, [("local".to_owned(), cloud)]).unwrap()
}
