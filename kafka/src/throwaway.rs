//! A one-node cluster that is started once and thrown away: to train a start-up cache, or
//! to warm a JVM up. It has the listeners of a real one, on free ports of a loopback
//! address, and nothing of any customer.

mod certificates;

use crate::Endpoint;
use crate::launch::{self, FORMAT_FILE, PROPERTIES_FILE};
use crate::render::{BrokerSpec, Rendered, render};
use crate::versions::Release;
use model::{Listener, Listeners, OsEntropy, ServerRole, kafka_uuid};
use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::net::{IpAddr, Ipv4Addr, TcpListener};
use std::path::Path;

/// A loopback address that no resolver has a name for: Kafka checks a peer's
/// certificate against that name, if there is one.
const ADDRESS: IpAddr = IpAddr::V4(Ipv4Addr::new(127, 63, 255, 1));

/// What is known of it.
pub struct Throwaway {
    pub listeners: Listeners,
    /// Key and certificate, good for every listener.
    pub identity: String,
    pub authority: String,
    pub rendered: Rendered,
}

/// Fills the server's directory as an agent would.
pub fn fill(directory: &Path, spec: BrokerSpec) -> io::Result<Throwaway> {
    for name in ["disk", "run", "logs"] {
        fs::create_dir(directory.join(name))?;
    }
    let (identity, authority) = certificates::write(directory, ADDRESS)?;
    let rendered = render(&spec);
    fs::write(directory.join(PROPERTIES_FILE), &rendered.properties)?;
    fs::write(directory.join(&rendered.logging_file), &rendered.logging)?;
    let directory_id = kafka_uuid(&OsEntropy);
    let Endpoint { host, port } = &spec.controllers[0];
    let controllers = [format!("1@{host}:{port}:{directory_id}")];
    let arguments = launch::format_arguments(&kafka_uuid(&OsEntropy), &directory_id, &controllers);
    host::write_private(&directory.join(FORMAT_FILE), arguments.join("\n").as_bytes())?;
    Ok(Throwaway { listeners: spec.listeners, identity, authority, rendered })
}

/// A server on ports that are free now.
pub fn spec(release: &'static Release, zone: &str, memory_mb: u32) -> io::Result<BrokerSpec> {
    // All are held until the last is known, or one port could come up twice.
    let held: Vec<TcpListener> =
        (0..6).map(|_| TcpListener::bind((ADDRESS, 0))).collect::<io::Result<_>>()?;
    let mut listeners = Vec::new();
    for listener in &held {
        let host = ADDRESS.to_string();
        let port = listener.local_addr()?.port();
        listeners.push(Listener { bind_host: host.clone(), advertised_host: host, port });
    }
    let [plaintext, ssl, sasl_scram, internal, controller, metrics] =
        <[Listener; 6]>::try_from(listeners).expect("six were bound");
    let (plaintext, metrics) = (Some(plaintext), Some(metrics));
    Ok(BrokerSpec {
        release,
        node_id: 1,
        roles: vec![ServerRole::Broker, ServerRole::Controller],
        controllers: vec![Endpoint { host: ADDRESS.to_string(), port: controller.port }],
        listeners: Listeners {
            plaintext,
            ssl,
            sasl_scram,
            internal,
            controller,
            metrics,
            reached_at: None,
            published: None,
        },
        private_ip: ADDRESS.to_string(),
        servers: 1,
        zone: zone.into(),
        cores: 2,
        memory_mb,
        max_heap_mb: None,
        shared: false,
        settings: BTreeMap::new(),
    })
}
