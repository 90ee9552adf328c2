//! The two documents of a server: the desired state that its agent is given, and the report
//! that its agent sends back. Control plane, engine and agent read both by these types alone.
//!
//! An agent of the release before works with this control plane and the other
//! way round: fields are only added, unknown ones are ignored, new ones have a
//! default. The documents are snapshot-tested in `wire`, whose calls carry them.

use crate::condition::Loading;
use crate::{
    DiskId, InstanceId, IntegrationId, KafkaVersion, Secret, ServerId, ServerRole, Timestamp,
};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What a server should be. The engine writes it, the agent fetches it.
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
    /// The broker is the next to be restarted: the JVM that follows it can be warmed up now.
    #[serde(default)]
    pub rehearse: bool,
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

/// How addresses are called that customers chose: agents keep to the same rules as the control
/// plane.
#[derive(Clone, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
#[serde(default)]
pub struct Outbound {
    /// Whether addresses that are not public may be called.
    pub allow_private_addresses: bool,
    /// What everything goes through, such as `http://user:password@proxy.example.com:3128`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub proxy: Option<Secret>,
    /// An authority of others' certificates, as PEM, beside those that the machine trusts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub authority_pem: Option<String>,
    /// Systems that are called elsewhere than they say, by the names of `ship::Endpoints`.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub endpoints: BTreeMap<String, String>,
}

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
    /// Identifies the above; reported back for people. It restarts nothing: `launch` does.
    pub config_hash: String,
}

/// The names of a server's key pairs: one for brokers and controllers, one for customers. An
/// agent that was told nothing yet asks for certificates by these names and of the first
/// generation; a control plane that wants others passes such requests over.
pub const CERTIFICATES: [&str; 2] = ["internal", "server"];
/// Of the key pairs of a new server.
pub const FIRST_GENERATION: i64 = 1;

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

/// What an agent sees of its server.
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
    /// Why the control plane refused the last claim.
    #[serde(default)]
    pub waits_for_leave: Option<String>,
    /// It waits for nothing but the control plane's next look at the cluster.
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
    /// Where the server's logs don't arrive; none from an agent that sends none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub integrations: Option<Deliveries>,
}

/// What an agent says of sending its server's logs.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Deliveries {
    /// Of the integrations that it is about.
    pub revision: i64,
    /// Those that fail; any other works.
    #[serde(default)]
    pub failures: Vec<FailedDelivery>,
}

/// One integration that a server's logs don't arrive at, or not all of them.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct FailedDelivery {
    pub id: IntegrationId,
    /// Why, in a sentence of ours without a full stop; empty if what is sent arrives.
    #[serde(default)]
    pub error: String,
    /// Events that were left out since everything last arrived.
    #[serde(default)]
    pub dropped: u64,
}

impl Report {
    /// Whether the broker runs, with whatever configuration.
    pub fn is_up(&self) -> bool {
        self.phase == Phase::Running
    }

    /// Whether the broker runs and was started for this launch or a later one.
    pub fn is_up_since(&self, launch: i64) -> bool {
        self.is_up() && self.launch >= launch
    }

    /// Whether the broker has stopped because this document says so. A report that was late
    /// may be about an earlier stop.
    pub fn has_stopped_by(&self, desired: &Desired) -> bool {
        desired.run == Run::Stopped
            && self.phase == Phase::Stopped
            && self.revision == desired.revision
    }
}

/// A certificate on the server's disk, as `tls/<name>.pem`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct InstalledCertificate {
    pub name: String,
    pub not_before: Timestamp,
    pub not_after: Timestamp,
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
