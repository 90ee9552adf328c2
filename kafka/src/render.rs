//! What a broker is started with, as text. Pure: the same server gives the same
//! bytes, so that a hash tells whether a running broker is up to date.
//!
//! Paths are relative to the server's directory, the JVM's working directory:
//! `tls/internal.pem`, `tls/server.pem`, `tls/internal-ca.pem`,
//! `tls/clients-ca.pem`, `disk/data`, `logs/server.log`. No secret is rendered.

mod jvm;
mod limits;
mod logging;
mod metrics;
mod properties;
mod settings;
#[cfg(test)]
mod tests;

pub use jvm::heap_mb;
pub use limits::Limits;
pub use logging::file_name as logging_file;
pub use properties::{Threads, threads};

use crate::Endpoint;
use crate::versions::Release;
use model::{Listeners, ServerRole};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// Raised when the same server is rendered differently. Nothing is restarted
/// for it; the next planned restart applies it.
pub const RENDER_VERSION: u32 = 4;

/// Everything rendering depends on.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BrokerSpec {
    pub release: &'static Release,
    pub node_id: i32,
    pub roles: Vec<ServerRole>,
    pub listeners: Listeners,
    /// The address that others on this host come from.
    pub private_ip: String,
    /// Controllers to ask for the quorum; the voters themselves are in the log.
    pub controllers: Vec<Endpoint>,
    /// Servers in the cluster, which bounds how often data is kept.
    pub servers: u32,
    /// Kafka's rack: replicas are spread over these.
    pub zone: String,
    pub cores: u32,
    pub memory_mb: u32,
    /// The host's own cap, for small machines and tests.
    pub max_heap_mb: Option<u32>,
    /// Tenants share the cluster: topics are made through our API alone.
    pub shared: bool,
    /// What the customer set; wins over what we would choose.
    pub settings: BTreeMap<String, String>,
}

/// The files and flags of a broker.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Rendered {
    /// The text of `server.properties`.
    pub properties: String,
    pub logging_file: String,
    pub logging: String,
    /// Without class path and start-up cache, which depend on the host.
    pub jvm_flags: Vec<String>,
    /// SHA-256 of all of the above and the version, in hex.
    pub config_hash: String,
}

/// The flags of a broker with that much memory.
pub fn jvm_flags(memory_mb: u32, max_heap_mb: Option<u32>) -> Vec<String> {
    let heap_mb = jvm::heap_mb(memory_mb, max_heap_mb);
    let mut flags = jvm::flags(heap_mb);
    flags.extend(Limits::of_heap(heap_mb).flags());
    flags
}

pub fn render(spec: &BrokerSpec) -> Rendered {
    let heap_mb = jvm::heap_mb(spec.memory_mb, spec.max_heap_mb);
    let limits = Limits::of_heap(heap_mb);
    let mut rendered = Rendered {
        properties: properties::text(spec, heap_mb, &limits),
        logging_file: logging::file_name(spec.release.logging).into(),
        logging: logging::text(spec.release.logging).into(),
        jvm_flags: jvm_flags(spec.memory_mb, spec.max_heap_mb),
        config_hash: String::new(),
    };
    rendered.config_hash = hash(spec, &rendered);
    rendered
}

fn hash(spec: &BrokerSpec, rendered: &Rendered) -> String {
    let version = spec.release.version.to_string();
    let mut parts =
        vec![version.as_str(), &rendered.properties, &rendered.logging_file, &rendered.logging];
    parts.extend(rendered.jvm_flags.iter().map(String::as_str));
    let mut digest = Sha256::new();
    for part in parts {
        // The length in front keeps two lists from reading as the same bytes.
        digest.update(part.len().to_be_bytes());
        digest.update(part);
    }
    hex(&digest.finalize())
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        write!(text, "{byte:02x}").expect("writing to a string can't fail");
        text
    })
}
