//! What every use case works with.

use crate::agents::RecentFailures;
use crate::apikeys::KeyHolder;
use crate::instances::InstanceView;
use crate::integrations::IntegrationTester;
use crate::messages::ReadShares;
use crate::people::SessionHolder;
use crate::resources::StaleBrokers;
use crate::{Clouds, Destinations, Error, Limits, RegionCloud, Result};
use ipnet::Ipv4Net;
use kafka::client::Admin;
use model::agent::Outbound;
use model::{
    Catalogue, CertificateLife, Clock, Entropy, Instance, InstanceId, KeyId, MessageLimits,
    RegionName, Seller, ServerId, SessionId, SignedDuration, Timestamp,
};
use reach::Reach;
use std::collections::HashMap;
use std::net::Ipv4Addr;
use std::ops::Deref;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;
use store::{Installation, Kept, KeyUse, MetricsHistory, Store};

/// A holder takes some hundred bytes.
const MOST_KEY_HOLDERS: usize = 10_000;
const MOST_SESSION_HOLDERS: usize = 1000;
/// A view takes some kilobytes.
const MOST_VIEWS: usize = 2000;

/// What the operator decides for all customers.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Settings {
    /// Clusters are found under `<username>.<domain>`; without one, under the
    /// address of their first server.
    pub domain: Option<String>,
    /// Networks are cut from this range where no subnet is asked for.
    pub subnet_pool: Ipv4Net,
    /// Who invoices are from.
    pub seller: Seller,
    /// Where people reach the Customer API, for links in mails.
    pub public_url: String,
    /// How many mails an account may cause in an hour to people who did not ask for
    /// them: invitations and mails with a link to confirm. 0: any number.
    pub invitations_per_hour: u32,
    /// How much one account may have.
    pub limits: Limits,
    pub messages: MessageLimits,
    /// How many bytes of audit lines an account may write a day; lines beyond are counted.
    pub audit_bytes_per_day: i64,
    /// Caps the heap of every broker.
    pub max_heap_mb: Option<u32>,
    /// How long a caller waits for a broker's answer.
    pub broker_patience: Duration,
    /// How many reads of messages go on at the same moment: the author of messages decides
    /// how much of our memory and time each takes, within bounds. An instance has a quarter
    /// of them at most, an account a half.
    pub reads_at_once: usize,
    /// Of certificates that are renewed by themselves.
    pub certificate_life: CertificateLife,
    /// How agents call what customers chose.
    pub outbound: Outbound,
}

impl Default for Settings {
    fn default() -> Self {
        let subnet_pool = Ipv4Net::new_assert(Ipv4Addr::new(10, 192, 0, 0), 12);
        Self {
            domain: None,
            subnet_pool,
            seller: Seller::default(),
            public_url: "http://127.0.0.1:8080".into(),
            invitations_per_hour: 20,
            limits: Limits::default(),
            messages: MessageLimits::default(),
            audit_bytes_per_day: 16 * 1024 * 1024,
            max_heap_mb: None,
            broker_patience: Duration::from_secs(25),
            reads_at_once: 8,
            certificate_life: CertificateLife::default(),
            outbound: Outbound::default(),
        }
    }
}

/// What use cases work with; cheap to clone.
#[derive(Clone)]
pub struct App(Arc<Shared>);

impl Deref for App {
    type Target = Shared;

    fn deref(&self) -> &Shared {
        &self.0
    }
}

/// The parts that all clones of an [`App`] share.
#[derive(Clone)]
pub struct Shared {
    store: Store,
    reach: Reach,
    pub(crate) catalogue: Arc<Catalogue>,
    clock: Arc<dyn Clock>,
    entropy: Arc<dyn Entropy>,
    clouds: Arc<Clouds<RegionCloud>>,
    pub(crate) destinations: Arc<dyn Destinations>,
    pub(crate) integration_tester: Arc<dyn IntegrationTester>,
    pub(crate) settings: Settings,
    installation: Installation,
    /// Held by the create that takes places: of two that ask at the same moment
    /// both would be offered the same ones.
    pub(crate) placing: Arc<tokio::sync::Mutex<()>>,
    /// Signs of life that are not written yet.
    last_seen: Arc<Mutex<HashMap<ServerId, Timestamp>>>,
    /// Uses of keys that are not written yet.
    last_used: Arc<Mutex<HashMap<KeyId, KeyUse>>>,
    /// Signs of people at the console that are not written yet.
    sessions_seen: Arc<Mutex<HashMap<SessionId, Timestamp>>>,
    pub(crate) recent_failures: Arc<RecentFailures>,
    watch: Arc<watch::Context>,
    stale_brokers: Arc<StaleBrokers>,
    pub(crate) reading: Arc<ReadShares>,
    /// By the hash of the key.
    pub(crate) key_holders: Arc<Kept<String, KeyHolder>>,
    /// By the hash of the session's token.
    pub(crate) session_holders: Arc<Kept<String, SessionHolder>>,
    pub(crate) views: Arc<Kept<InstanceId, InstanceView>>,
}

/// The parts an app is made from.
pub struct Parts {
    pub store: Store,
    /// How clusters are talked to.
    pub admin: Arc<dyn Admin>,
    pub catalogue: Arc<Catalogue>,
    pub clock: Arc<dyn Clock>,
    pub entropy: Arc<dyn Entropy>,
    /// What may be asked of the clouds that serve the catalogue's regions.
    pub clouds: Clouds<RegionCloud>,
    pub destinations: Arc<dyn Destinations>,
    pub integration_tester: Arc<dyn IntegrationTester>,
    pub settings: Settings,
    pub installation: Installation,
}

impl App {
    pub fn new(parts: Parts) -> Self {
        let Parts {
            store,
            admin,
            catalogue,
            clock,
            entropy,
            clouds,
            destinations,
            integration_tester,
            settings,
            installation,
        } = parts;
        let store = store.with_audit_budget(settings.audit_bytes_per_day);
        let reach = Reach::new(store.clone(), admin, Arc::clone(&clock), Arc::clone(&entropy))
            .with_certificate_life(settings.certificate_life);
        Self(Arc::new(Shared {
            watch: Arc::new(watch::Context::new(
                store.clone(),
                reach.clone(),
                Arc::clone(&catalogue),
                Arc::clone(&clock),
                Arc::clone(&entropy),
            )),
            reach,
            store,
            catalogue,
            clock,
            entropy,
            clouds: Arc::new(clouds),
            destinations,
            integration_tester,
            reading: Arc::new(ReadShares::new(settings.reads_at_once)),
            settings,
            installation,
            placing: Arc::default(),
            last_seen: Arc::default(),
            last_used: Arc::default(),
            sessions_seen: Arc::default(),
            recent_failures: Arc::default(),
            stale_brokers: Arc::default(),
            key_holders: Arc::new(Kept::new(MOST_KEY_HOLDERS)),
            session_holders: Arc::new(Kept::new(MOST_SESSION_HOLDERS)),
            views: Arc::new(Kept::new(MOST_VIEWS)),
        }))
    }

    /// With a history of metrics; without one they are in memory alone. To be
    /// called before the first sample comes.
    #[must_use]
    pub fn with_metrics_history(self, history: MetricsHistory) -> Self {
        let watch = watch::Context::clone(&self.watch).with_history(history);
        Self(Arc::new(Shared { watch: Arc::new(watch), ..Shared::clone(&self) }))
    }

    pub fn store(&self) -> &Store {
        &self.store
    }

    /// The heap of an instance's brokers; none if its plan is no longer in the catalogue.
    pub(crate) fn heap_mb(&self, instance: &Instance) -> Option<u32> {
        let plan = self.catalogue.plan(&instance.plan.0)?;
        let memory_mb = plan.family.memory_gb * 1024;
        Some(kafka::render::heap_mb(memory_mb, self.settings.max_heap_mb))
    }

    /// The cloud that serves a region.
    pub(crate) fn cloud(&self, region: &RegionName) -> Result<&RegionCloud> {
        self.clouds.serving(region).ok_or_else(|| {
            Error::Refused(format!("No cloud serves region {region}; ask the operator"))
        })
    }

    /// The way into the clusters.
    pub fn reach(&self) -> &Reach {
        &self.reach
    }

    pub fn installation(&self) -> &Installation {
        &self.installation
    }

    pub fn entropy(&self) -> &dyn Entropy {
        &*self.entropy
    }

    /// As exact as the store keeps it, so that what is told before it was written is
    /// what is told afterwards.
    pub fn now(&self) -> Timestamp {
        let now = self.clock.now();
        Timestamp::from_microsecond(now.as_microsecond()).unwrap_or(now)
    }

    /// See [`Clock::elapsed`].
    pub(crate) fn elapsed(&self) -> SignedDuration {
        self.clock.elapsed()
    }

    /// Whether the service can answer: the store is there.
    pub async fn ping(&self) -> Result<()> {
        Ok(self.store.ping().await?)
    }

    /// The memory of samples, and what alarms work with.
    pub fn watch(&self) -> &watch::Context {
        &self.watch
    }

    pub(crate) fn stale_brokers(&self) -> &StaleBrokers {
        &self.stale_brokers
    }

    pub(crate) fn last_seen(&self) -> MutexGuard<'_, HashMap<ServerId, Timestamp>> {
        self.last_seen.lock().expect("no holder of this lock panics")
    }

    pub(crate) fn sessions_seen(&self) -> MutexGuard<'_, HashMap<SessionId, Timestamp>> {
        self.sessions_seen.lock().expect("no holder of this lock panics")
    }

    pub(crate) fn last_used(&self) -> MutexGuard<'_, HashMap<KeyId, KeyUse>> {
        self.last_used.lock().expect("no holder of this lock panics")
    }
}
