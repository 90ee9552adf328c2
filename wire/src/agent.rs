//! What control plane and agent say to each other.
//!
//! An agent of the release before works with this control plane and the other
//! way round: fields are only added, unknown ones are ignored, new ones have a
//! default. The documents are snapshot-tested for that reason.

pub use model::agent::{
    CERTIFICATES, CertificateRequest, Deliveries, Desired, DesiredBroker, DesiredCertificate,
    DesiredDisk, FIRST_GENERATION, FailedDelivery, Format, InstalledCertificate, Outbound, Phase,
    Report, Run,
};
pub use model::condition::Loading;
use model::{DiskId, InstanceId, IntegrationConfig, IntegrationId, Secret, ServerId};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;

/// `POST /agent/v1/enrol`: the first call of a new agent, with its one-time
/// token. The same token with the same key may be used again until it expires,
/// so that an agent that died before saving the answer gets it again.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Enrol {
    pub server_id: ServerId,
    pub incarnation: i64,
    pub token: Secret,
    /// PEM. Only the public key is taken from it.
    pub csr: String,
    /// The first report of an agent that has no desired state yet, with requests for the
    /// certificates that every broker begins with. The answer then waits, for
    /// [`FIRST_DOCUMENT_SECONDS`] at most, until they are issued, and brings them along.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub report: Option<Report>,
}

/// How long an enrolment waits for the first desired state with its certificates. It is
/// answered without one after that, and the agent fetches it as it does later ones.
pub const FIRST_DOCUMENT_SECONDS: u64 = 2;

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Enrolled {
    /// PEM; names server and incarnation.
    pub certificate: String,
    /// [`Desired`], as it is on record: one that this agent can't read is no reason to refuse
    /// the certificate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub desired: Option<Value>,
}

/// `POST /agent/v1/renew`, with the present certificate: a new one. If the request is for
/// another key, that is the agent's from then on, and the present one is refused.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Renew {
    pub csr: String,
}

/// `GET /agent/v1/desired?after=<revision>` answers [`Desired`]. The call is held until there
/// is a revision other than `after`, for at most so long; then it answers 204.
///
/// With `&integrations=<revision>` it also ends, with 204, when the server's logs go elsewhere
/// by a revision other than that: so an agent hears of it at once.
pub const LONG_POLL_SECONDS: u64 = 25;

/// On a 204 to that call: the revision of where logs go.
pub const INTEGRATIONS_HEADER: &str = "castellan-integrations-revision";

/// `POST /agent/v1/report` takes [`Report`], on every change, and this often as a sign of life.
pub const REPORT_SECONDS: u64 = 10;

/// The answer to a report. Control planes of the release before give none.
#[derive(Clone, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
pub struct Reported {
    /// Of [`LogIntegrations`]; raised also when the operator's rules for calls, or the instance's
    /// name or tags, become others. No two are the same before and after a restore of the store.
    /// 0 says that logs go nowhere; any other revision may say so, too.
    #[serde(default)]
    pub integrations_revision: i64,
}

/// `GET /agent/v1/integrations`: where the logs of the agent's server go, with the keys that
/// let it in there.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct LogIntegrations {
    pub revision: i64,
    pub instance_id: InstanceId,
    /// What instance and server are called there.
    pub instance_name: String,
    #[serde(default)]
    pub tags: Vec<String>,
    pub server_name: String,
    #[serde(default)]
    pub hostname: String,
    #[serde(default)]
    pub integrations: Vec<LogIntegration>,
    /// How they are called.
    #[serde(default)]
    pub outbound: Outbound,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct LogIntegration {
    pub id: IntegrationId,
    /// Raised whenever the settings are saved, also if they stay the same: the agent then tries
    /// again at once. 0 from control planes of earlier releases.
    #[serde(default)]
    pub version: i64,
    /// A word of [`model::IntegrationSystem`], or of a newer control plane's.
    pub system: String,
    pub config: IntegrationConfig,
}

/// `POST /agent/v1/claim`: leave to stop the broker, asked for at the moment of
/// stopping and every [`CLAIM_SECONDS`] until it is given.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Claim {
    /// Of the document that tells the agent to stop.
    pub revision: i64,
    #[serde(default)]
    pub store_epoch: i64,
    /// The broker has not answered its own agent for a while, as in
    /// [`Report::silent_since`].
    #[serde(default)]
    pub silent: bool,
}

pub const CLAIM_SECONDS: u64 = 1;

/// The answer to a claim, good for this very moment.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Claimed {
    pub go: bool,
    /// Why not, in words.
    #[serde(default)]
    pub reason: String,
    /// It waits for nothing but the control plane's next look at the cluster, and so
    /// is no reason to tell of.
    #[serde(default)]
    pub passing: bool,
}

/// The file a cloud puts beside the agent: how to reach the control plane, and
/// what this host offers. Read again whenever the control plane can't be
/// reached, so that a moved control plane is found.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct AgentStart {
    pub server_id: ServerId,
    pub incarnation: i64,
    /// `https://host:port` of the agent listener.
    pub control_plane: String,
    /// PEM; the only authority the agent trusts for the control plane.
    pub fleet_ca: String,
    /// Needed for enrolment only.
    #[serde(default)]
    pub token: Option<Secret>,
    #[serde(default)]
    pub host: HostSettings,
    /// Whom the server's processes and files belong to; none: the user who started the agent.
    #[serde(default)]
    pub uid: Option<u32>,
}

/// What the operator set for this host.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostSettings {
    /// Where Kafka and start-up caches are kept; none: the user's cache.
    #[serde(default)]
    pub cache: Option<std::path::PathBuf>,
    /// A Java home to use instead of the newest that fits.
    #[serde(default)]
    pub java: Option<std::path::PathBuf>,
    /// Unpacked Kafka distributions by version, used instead of Maven.
    #[serde(default)]
    pub distributions: BTreeMap<String, std::path::PathBuf>,
    /// Where the control plane of this host has its store.
    #[serde(default)]
    pub store: Option<StoreRoom>,
    /// Warm the next JVM up before a broker is stopped for a restart.
    #[serde(default = "yes")]
    pub warm_rolls: bool,
    /// Keep a warm JVM beside every broker that has run well, to be the next.
    #[serde(default)]
    pub standby: bool,
}

const fn yes() -> bool {
    true
}

impl Default for HostSettings {
    fn default() -> Self {
        let distributions = BTreeMap::new();
        Self {
            cache: None,
            java: None,
            distributions,
            store: None,
            warm_rolls: true,
            standby: false,
        }
    }
}

/// What no broker may be started on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoreRoom {
    pub directory: std::path::PathBuf,
    /// Has to stay free on the file system of that directory, unless the store's ballast
    /// there holds as much.
    pub bytes: u64,
}

/// The name of the store's ballast in its directory.
pub const STORE_BALLAST: &str = "ballast";

/// In the environment of every process of a server, with the server's directory: it
/// finds those that a crash left unrecorded.
pub const SERVER_VARIABLE: &str = "CASTELLAN_SERVER";

/// The cloud's own record in a server's directory. It never belongs to the server's uid.
pub const SERVER_RECORD: &str = "server.json";

/// The name of the file that a cloud puts on each disk it makes.
pub const DISK_MARKER: &str = "castellan-disk.json";

/// What is in that file: whose disk it is. Cloud and agent both refuse a disk
/// without it or with another one's.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct DiskMarker {
    pub disk_id: DiskId,
    pub instance_id: InstanceId,
    pub server_id: ServerId,
}
