//! What every handler can reach.

use crate::connections::Connections;
use crate::counters::Counters;
use crate::limit::{RateLimit, RateLimits};
use app::App;
use ipnet::IpNet;
use metrics_exporter_prometheus::PrometheusHandle;
use std::sync::Arc;
use std::time::Duration;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// Which of the three addresses a request came in on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Listener {
    Customer,
    Instance,
    Agent,
}

impl Listener {
    pub const fn as_str(self) -> &'static str {
        match self {
            Listener::Customer => "customer",
            Listener::Instance => "instance",
            Listener::Agent => "agent",
        }
    }

    /// The realm of HTTP Basic; agents don't use it.
    pub const fn realm(self) -> Option<&'static str> {
        match self {
            Listener::Customer => Some("Basic realm=\"Customer API\""),
            Listener::Instance => Some("Basic realm=\"Instance API\""),
            Listener::Agent => None,
        }
    }
}

/// What the operator sets for the listeners.
#[derive(Clone)]
pub struct Options {
    /// Proxies whose `X-Forwarded-For` is believed.
    pub proxies: Vec<IpNet>,
    /// Whether the two APIs answer nobody but those proxies and this machine:
    /// to be set where a proxy ends TLS and the listener itself has none.
    pub only_from_proxies: bool,
    /// How much a client may ask for; give both APIs the same one.
    pub rate_limit: RateLimit,
    /// How many connections there may be; give both APIs the same one.
    pub connections: Connections,
    /// Who may read `/metrics` besides this machine itself.
    pub metrics_from: Vec<IpNet>,
    pub metrics: Option<PrometheusHandle>,
    /// How long the body of a request may take to arrive.
    pub body_timeout: Duration,
    /// A connection on which no request comes within this time is dropped.
    pub silence: Duration,
    /// Cancelled when the program stops, so that held calls end and new ones
    /// are turned away.
    pub stopping: CancellationToken,
    /// The calls under way; a stop waits for them.
    pub under_way: TaskTracker,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            proxies: Vec::new(),
            only_from_proxies: false,
            rate_limit: RateLimit::new(RateLimits::default()),
            connections: Connections::default(),
            metrics_from: Vec::new(),
            metrics: None,
            body_timeout: Duration::from_secs(30),
            silence: Duration::from_secs(30),
            stopping: CancellationToken::new(),
            under_way: TaskTracker::new(),
        }
    }
}

/// The state of one listener's router.
#[derive(Clone)]
pub struct Api {
    pub app: App,
    pub listener: Listener,
    pub options: Arc<Options>,
    pub counters: Arc<Counters>,
}

/// The DER of the client's certificate, verified by TLS against the fleet's
/// authority. Put into a request by the listener, never by a client.
#[derive(Clone, Debug)]
pub struct PeerCertificate(pub Option<Vec<u8>>);
