//! Makes what is into what should be, one instance at a time.
//!
//! observe → plan → execute one step → write → again. Planning is pure; a step
//! is idempotent and owns what it touches; no transaction stays open while a
//! step runs. Start-up, crash recovery and the happy path are the same path.
//! Every step's write checks the lease, and every effect at a cloud carries its epoch, so a
//! worker that slept too long writes nothing and does nothing. The chores of `networks` have
//! no lease, and each says why that does no harm. Kafka has no fence: `execute/customer.rs`
//! says why a late write there does none that lasts.

mod backoff;
mod desired;
mod execute;
mod load;
mod networks;
mod observe;
mod pass;
pub mod plan;
mod replies;
mod runner;
mod turn;
mod witness;
mod world;

pub use load::{Load, Measured};
pub use networks::Networks;
pub use pass::{Pass, PassError, Rest};
pub use plan::{Lane, Plan, Step, Wait};
pub use runner::Runner;
pub use witness::{Moment, Witness};
pub use world::{Placed, ServerView, World};

use cloud::{Cloud, Clouds};
use load::Pace;
use model::{Catalogue, CertificateLife, Clock, Entropy, HostId, SignedDuration, Timestamp};
use mover::Throttle;
use reach::Reach;
use replies::Replies;
use std::sync::Arc;
use std::time::Duration;
use store::{Installation, Store};

/// What the engine works with. Everything outside stands behind a trait.
pub struct Engine {
    store: Store,
    clouds: Clouds<Arc<dyn Cloud>>,
    reach: Reach,
    catalogue: Arc<Catalogue>,
    clock: Arc<dyn Clock>,
    started_at: Timestamp,
    entropy: Arc<dyn Entropy>,
    installation: Installation,
    /// The machine this is; only instances with all servers on it are worked on.
    host_id: HostId,
    settings: Settings,
    /// Which worker this is, for leases.
    owner: String,
    replies: Replies,
    pace: Pace,
    /// None: replicas are copied as fast as at first.
    load: Option<Arc<dyn Load>>,
    /// Present in tests alone.
    witness: Option<Arc<dyn Witness>>,
}

/// What the operator set.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Caps the heap of every broker, for small machines and tests.
    pub max_heap_mb: Option<u32>,
    /// Whether brokers may have a listener without encryption or login. One that has
    /// it loses it otherwise, when it is rendered anew.
    pub plaintext: bool,
    /// How long a worker that says nothing keeps its instances. Longer than any
    /// write takes; a step that takes longer holds on to its lease.
    pub lease: SignedDuration,
    /// A new user is known to every broker within moments; longer is a failure
    /// and tried again later.
    pub login_patience: Duration,
    /// How long the last step of an instance waits for its network to be removed, which takes
    /// moments unless something is stuck.
    pub removal_patience: Duration,
    /// Of brokers' certificates.
    pub certificate_life: CertificateLife,
    /// Bytes per second and broker within which replicas are copied.
    pub move_throttle: Throttle,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            max_heap_mb: None,
            plaintext: true,
            lease: SignedDuration::from_mins(1),
            login_patience: Duration::from_secs(3),
            removal_patience: Duration::from_secs(5),
            certificate_life: CertificateLife::default(),
            move_throttle: Throttle { least: 5_000_000, most: 100_000_000 },
        }
    }
}

/// The parts an engine is made from.
pub struct Parts {
    pub store: Store,
    pub clouds: Clouds<Arc<dyn Cloud>>,
    pub reach: Reach,
    pub catalogue: Arc<Catalogue>,
    pub clock: Arc<dyn Clock>,
    pub entropy: Arc<dyn Entropy>,
    pub installation: Installation,
    pub host_id: HostId,
    /// Which worker this is. One that is started again under the same name takes
    /// up at once what it held, so no two that live may have the same.
    pub owner: String,
    pub settings: Settings,
}

impl Engine {
    pub fn new(parts: Parts) -> Self {
        Self {
            store: parts.store,
            clouds: parts.clouds,
            reach: parts.reach,
            catalogue: parts.catalogue,
            started_at: parts.clock.now(),
            clock: parts.clock,
            entropy: parts.entropy,
            installation: parts.installation,
            host_id: parts.host_id,
            settings: parts.settings,
            owner: parts.owner,
            replies: Replies::default(),
            pace: Pace::default(),
            load: None,
            witness: None,
        }
    }
}
