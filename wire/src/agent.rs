//! What control plane and agent say to each other.
//!
//! An agent of the release before works with this control plane and the other
//! way round: fields are only added, unknown ones are ignored, new ones have a
//! default. The documents are snapshot-tested for that reason.

use jiff::Timestamp;
pub use model::condition::Loading;
use model::{DiskId, InstanceId, KafkaVersion, Secret, ServerId, ServerRole};
use serde::{Deserialize, Serialize};
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
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Enrolled {
    /// PEM; names server and incarnation.
    pub certificate: String,
}

/// `POST /agent/v1/renew`, with the present certificate: a new one. If the request is for
/// another key, that is the agent's from then on, and the present one is refused.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Renew {
    pub csr: String,
}

/// `GET /agent/v1/desired?after=<revision>`: what this server should be. The
/// call is held until there is a revision other than `after`, for at most
/// [`LONG_POLL_SECONDS`]; then it answers 204.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Desired {
    pub revision: i64,
    /// Raised by a restore of the store: lower revisions are then accepted.
    #[serde(default)]
    pub store_epoch: i64,
    pub server_id: ServerId,
    pub incarnation: i64,
    pub instance_id: InstanceId,
    pub node_id: i32,
    #[serde(default)]
    pub roles: Vec<ServerRole>,
    pub cluster_id: String,
    pub disk: DesiredDisk,
    pub run: Run,
    /// A broker that was started for a lower one is started anew.
    #[serde(default)]
    pub launch: i64,
    /// Absent until everything the broker needs is known.
    #[serde(default)]
    pub broker: Option<DesiredBroker>,
    #[serde(default)]
    pub certificates: Vec<DesiredCertificate>,
    /// Trust bundles by name (`internal`, `clients`), each a PEM list written to
    /// `tls/<name>-ca.pem`.
    #[serde(default)]
    pub trust: BTreeMap<String, String>,
    /// Serials, in hex, of clients' certificates that brokers refuse though
    /// `clients` has signed them. Written to `tls/revoked-serials`, one a line;
    /// one that is no longer told stays there.
    #[serde(default)]
    pub revoked: Vec<String>,
}

pub const LONG_POLL_SECONDS: u64 = 25;

#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Run {
    Running,
    Stopped,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct DesiredDisk {
    pub id: DiskId,
    pub directory_id: String,
    /// Present only until the broker has first been seen running. Without it
    /// the agent never formats.
    #[serde(default)]
    pub format: Option<Format>,
}

/// How to format, once in the cluster's life.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Format {
    /// `<node id>@<host>:<port>:<directory id>` of each first controller;
    /// empty for a server that joins later.
    pub initial_controllers: Vec<String>,
}

/// Everything a broker is started with. Paths in it are relative to the
/// server's directory, which is the JVM's working directory.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct DesiredBroker {
    pub kafka_version: KafkaVersion,
    /// The text of `server.properties`.
    pub properties: String,
    /// The logging configuration's file name and text.
    pub logging_file: String,
    pub logging: String,
    /// Heap, collector and safety flags, without start-up cache and class path.
    pub jvm_flags: Vec<String>,
    /// Of all of the above; a running broker with another hash is out of date.
    pub config_hash: String,
}

/// A key pair the agent shall have, and the certificate for it once issued.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct DesiredCertificate {
    /// `internal` or `server`; key and chain are written to `tls/<name>.pem`.
    pub name: String,
    pub generation: i64,
    /// PEM chain, for the key whose request of this generation was reported.
    #[serde(default)]
    pub certificate: Option<String>,
}

/// `POST /agent/v1/report`: what the agent sees. Sent on every change, and
/// every [`REPORT_SECONDS`] as a sign of life.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Report {
    pub incarnation: i64,
    pub agent_version: String,
    /// Tells the first report of a new agent from the last of the one before.
    #[serde(default)]
    pub agent_pid: Option<i32>,
    /// The revision this report speaks of.
    pub revision: i64,
    #[serde(default)]
    pub store_epoch: i64,
    pub phase: Phase,
    /// What it does or why it can't, in a sentence without a full stop.
    #[serde(default)]
    pub detail: String,
    /// The last lines of the broker's log, when the phase is `failed`.
    #[serde(default)]
    pub log_tail: Vec<String>,
    #[serde(default)]
    pub broker_pid: Option<i32>,
    /// Starts of the broker's JVM by itself, since it last ran well.
    #[serde(default)]
    pub restarts: u32,
    /// Of the configuration that the running broker was started with.
    #[serde(default)]
    pub config_hash: Option<String>,
    /// The launch that the running broker was started for.
    #[serde(default)]
    pub launch: i64,
    /// Why the disk can't be used, when it is lost, somebody else's or full.
    #[serde(default)]
    pub disk_fault: Option<String>,
    /// Why a broker that shall stop runs on, in the words of who was asked.
    #[serde(default)]
    pub waits_for_leave: Option<String>,
    /// As in [`Claimed::passing`].
    #[serde(default)]
    pub wait_is_passing: bool,
    /// How far a broker that starts is with the logs on its disk.
    #[serde(default)]
    pub loading: Option<Loading>,
    /// Since when a broker that runs has not answered its own agent; none while it
    /// does, or as long as it may only be slow.
    #[serde(default)]
    pub silent_since: Option<Timestamp>,
    #[serde(default)]
    pub requests: Vec<CertificateRequest>,
    /// The certificates that the broker's listeners read, whatever is desired by now.
    #[serde(default)]
    pub certificates: Vec<InstalledCertificate>,
}

/// A certificate on the server's disk, as `tls/<name>.pem`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct InstalledCertificate {
    pub name: String,
    pub not_before: Timestamp,
    pub not_after: Timestamp,
}

pub const REPORT_SECONDS: u64 = 10;

/// `POST /agent/v1/claim`: leave to stop the broker, asked for at the moment of
/// stopping and every [`CLAIM_SECONDS`] until it is given. A control plane of a
/// release without tickets does not know the call (404); then the agent stops.
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

/// A certificate request of the agent for one of its keys.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct CertificateRequest {
    pub name: String,
    pub generation: i64,
    pub csr: String,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Phase {
    /// Not everything is known or there yet; `detail` says what is missing.
    Preparing,
    /// The JVM runs; the broker does not answer yet.
    Starting,
    /// The broker said that it has started.
    Running,
    /// Being stopped in an orderly way.
    Stopping,
    Stopped,
    /// It does not stay up; the agent tries again with growing pauses.
    Failed,
    /// Of a newer agent; the rest of its report is good.
    #[serde(other)]
    Unknown,
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
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
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
