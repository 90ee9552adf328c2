//! The text of `server.properties`.
//!
//! INTERNAL and CONTROLLER trust the internal CA alone and are the only way to
//! be the super user; SSL trusts the clients' CA alone. What we leave out is
//! Kafka's default on purpose, above all partition counts of internal topics,
//! which can't change later.

use super::settings::Settings;
use super::{BrokerSpec, Endpoint, Limits, metrics};
use model::{Listener, Listeners, ServerRole};
use std::collections::BTreeMap;

/// Each log that is loaded or closed waits for the disk: on two busy cores one thread took 3.4 s
/// for 57 logs, nearly all of it waiting.
const LOG_THREADS: u32 = 8;
const HEADER: &str = "# Rendered by Castellan; changes are overwritten.\n";

pub fn text(spec: &BrokerSpec, heap_mb: u32, limits: &Limits) -> String {
    let mut settings = Settings::default();
    identity(&mut settings, spec);
    listeners(&mut settings, spec);
    trust(&mut settings, spec);
    rights(&mut settings, spec);
    session(&mut settings, spec);
    replication(&mut settings, spec);
    capacity(&mut settings, spec, heap_mb);
    let names: Vec<&str> = open(&spec.listeners, spec).into_iter().map(|(name, ..)| name).collect();
    limits.settings(&mut settings, spec, &names);
    metrics::settings(&mut settings, spec);
    customers(&mut settings, &spec.settings);
    settings.text(HEADER)
}

fn identity(settings: &mut Settings, spec: &BrokerSpec) {
    let controllers: Vec<String> =
        spec.controllers.iter().map(|Endpoint { host, port }| address(host, *port)).collect();
    let roles: Vec<String> = spec.roles.iter().map(ToString::to_string).collect();
    settings.set("process.roles", roles.join(","));
    settings.set("node.id", spec.node_id.to_string());
    settings.set("controller.quorum.bootstrap.servers", controllers.join(","));
    settings.set("log.dirs", "disk/data");
    if spec.roles.contains(&ServerRole::Broker) {
        settings.set("broker.rack", spec.zone.as_str());
    }
}

/// Name, security protocol, and place of each listener that these roles have.
fn open<'a>(
    listeners: &'a Listeners,
    spec: &BrokerSpec,
) -> Vec<(&'static str, &'static str, &'a Listener)> {
    let mut open = Vec::new();
    if spec.roles.contains(&ServerRole::Broker) {
        open.extend(listeners.plaintext.as_ref().map(|it| ("PLAINTEXT", "PLAINTEXT", it)));
        open.extend([
            ("SSL", "SSL", &listeners.ssl),
            ("SASL_SSL", "SASL_SSL", &listeners.sasl_scram),
            ("INTERNAL", "SSL", &listeners.internal),
        ]);
    }
    if spec.roles.contains(&ServerRole::Controller) {
        open.push(("CONTROLLER", "SSL", &listeners.controller));
    }
    open
}

/// The listeners as customers are told of them.
fn public(own: &Listeners) -> Listeners {
    Listeners { ssl: own.public_ssl(), sasl_scram: own.public_sasl_scram(), ..own.clone() }
}

fn listeners(settings: &mut Settings, spec: &BrokerSpec) {
    let (own, public) = (open(&spec.listeners, spec), public(&spec.listeners));
    let told = open(&public, spec);
    let list = |open: &[(&str, &str, &Listener)], host: fn(&Listener) -> &str| {
        let urls = open.iter().map(|(name, _, listener)| {
            format!("{name}://{}", address(host(listener), listener.port))
        });
        urls.collect::<Vec<_>>().join(",")
    };
    settings.set("listeners", list(&own, |listener| &listener.bind_host));
    settings.set("advertised.listeners", list(&told, |listener| &listener.advertised_host));
    settings.all([
        // Every name, whatever the roles: a broker also dials controllers.
        (
            "listener.security.protocol.map",
            "PLAINTEXT:PLAINTEXT,SSL:SSL,SASL_SSL:SASL_SSL,INTERNAL:SSL,CONTROLLER:SSL",
        ),
        ("inter.broker.listener.name", "INTERNAL"),
        ("controller.listener.names", "CONTROLLER"),
    ]);
}

fn trust(settings: &mut Settings, spec: &BrokerSpec) {
    settings.all([
        ("ssl.engine.factory.class", "castellan.broker.ReloadingSslEngineFactory"),
        ("ssl.enabled.protocols", "TLSv1.2,TLSv1.3"),
    ]);
    certificates(settings, "internal", "internal", "internal-ca", "required");
    certificates(settings, "controller", "internal", "internal-ca", "required");
    if spec.roles.contains(&ServerRole::Broker) {
        certificates(settings, "ssl", "server", "clients-ca", "required");
        // Nobody shows a certificate here; without a trust store Java would
        // load all the world's authorities at every start.
        certificates(settings, "sasl_ssl", "server", "clients-ca", "none");
        scram(settings);
    }
}

fn certificates(settings: &mut Settings, listener: &str, own: &str, trusted: &str, auth: &str) {
    let mut set = |name: &str, value: &str| {
        settings.set(&format!("listener.name.{listener}.ssl.{name}"), value);
    };
    set("keystore.type", "PEM");
    set("keystore.location", &format!("tls/{own}.pem"));
    set("truststore.type", "PEM");
    set("truststore.location", &format!("tls/{trusted}.pem"));
    set("client.auth", auth);
}

fn scram(settings: &mut Settings) {
    const LOGIN: &str = "org.apache.kafka.common.security.scram.ScramLoginModule required;";
    settings.all([
        ("listener.name.sasl_ssl.sasl.enabled.mechanisms", "SCRAM-SHA-256,SCRAM-SHA-512"),
        ("listener.name.sasl_ssl.scram-sha-256.sasl.jaas.config", LOGIN),
        ("listener.name.sasl_ssl.scram-sha-512.sasl.jaas.config", LOGIN),
    ]);
}

fn rights(settings: &mut Settings, spec: &BrokerSpec) {
    settings.all([
        ("principal.builder.class", "castellan.broker.ListenerPrincipalBuilder"),
        ("authorizer.class.name", "castellan.broker.GuardedAuthorizer"),
        ("allow.everyone.if.no.acl.found", "false"),
        ("super.users", "Service:castellan"),
    ]);
    if spec.shared {
        settings.set("auto.create.topics.enable", false);
    }
}

fn session(settings: &mut Settings, spec: &BrokerSpec) {
    settings.set("broker.session.timeout.ms", spec.release.session.timeout_ms);
    settings.set("broker.heartbeat.interval.ms", spec.release.session.heartbeat_ms);
}

fn replication(settings: &mut Settings, spec: &BrokerSpec) {
    let copies = spec.servers.clamp(1, 3);
    // With two copies, two in sync would stop every write when one server does.
    let in_sync = if copies == 3 { 2 } else { 1 };
    settings.set("default.replication.factor", copies);
    settings.set("min.insync.replicas", in_sync);
    settings.set("unclean.leader.election.enable", false);
    settings.set("offsets.topic.replication.factor", copies);
    settings.set("transaction.state.log.replication.factor", copies);
    settings.set("transaction.state.log.min.isr", in_sync);
    if spec.release.share_groups {
        settings.set("share.coordinator.state.topic.replication.factor", copies);
        settings.set("share.coordinator.state.topic.min.isr", in_sync);
    }
}

fn capacity(settings: &mut Settings, spec: &BrokerSpec, heap_mb: u32) {
    let threads = threads(spec.cores);
    settings.set("num.network.threads", threads.network);
    settings.set("num.io.threads", threads.io);
    settings.set("num.recovery.threads.per.data.dir", spec.cores.max(LOG_THREADS));
    // Kafka takes 128 MB of heap for it at start, half of a small one.
    let buffer = (heap_mb / 8).clamp(16, 128) * 1024 * 1024;
    settings.set("log.cleaner.dedupe.buffer.size", buffer);
}

/// How many threads a broker starts with.
pub struct Threads {
    /// For each listener: five of them share the cores.
    pub network: u32,
    pub io: u32,
}

pub fn threads(cores: u32) -> Threads {
    Threads { network: cores.clamp(2, 8), io: (cores * 2).max(4) }
}

fn customers(settings: &mut Settings, chosen: &BTreeMap<String, String>) {
    for (name, value) in chosen {
        settings.set(name, value.as_str());
    }
}

fn address(host: &str, port: u16) -> String {
    if host.contains(':') { format!("[{host}]:{port}") } else { format!("{host}:{port}") }
}
