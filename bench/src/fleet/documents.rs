//! What agents and control plane hold of each other once a server runs: documents as
//! long as real ones. The certificates in them are stand-ins that nobody looks into.

use anyhow::{Context, Result};
use kafka::Endpoint;
use kafka::render::{BrokerSpec, render};
use model::{Disk, Instance, Server};
use rcgen::{CertificateParams, KeyPair};
use std::collections::BTreeMap;
use store::Installation;
use wire::agent::{
    CertificateRequest, Desired, DesiredBroker, DesiredCertificate, DesiredDisk, Phase, Report, Run,
};

/// After making the disk, certificates and a start.
const REVISION: i64 = 4;
const CERTIFICATES: [&str; 2] = ["internal", "server"];
const TRUST: [&str; 2] = ["internal", "clients"];
const CORES: u32 = 1;
const MEMORY_MB: u32 = 2048;

pub struct Documents {
    certificate: String,
    request: String,
    store_epoch: i64,
}

impl Documents {
    pub fn of(installation: &Installation) -> Result<Self> {
        let request = CertificateParams::default().serialize_request(&KeyPair::generate()?)?;
        Ok(Self {
            certificate: installation.fleet_ca.clone(),
            request: request.pem()?,
            store_epoch: installation.store_epoch,
        })
    }

    /// What the server of a cluster, `all` of whose servers are given, should be.
    pub fn desired(
        &self,
        instance: &Instance,
        all: &[Server],
        server: &Server,
        disk: &Disk,
    ) -> Result<Desired> {
        let certificate = |name: &str| DesiredCertificate {
            name: name.into(),
            generation: server.certificate_generation,
            certificate: Some(self.certificate.clone()),
        };
        let trust = |name: &str| (name.to_owned(), self.certificate.clone());
        Ok(Desired {
            revision: REVISION,
            store_epoch: self.store_epoch,
            server_id: server.id,
            incarnation: server.incarnation,
            instance_id: instance.id,
            node_id: server.node_id,
            roles: server.roles.clone(),
            cluster_id: instance.cluster_id.clone(),
            disk: DesiredDisk {
                id: disk.id,
                directory_id: disk.directory_id.clone(),
                format: None,
            },
            run: Run::Running,
            launch: server.wanted.launch(),
            rehearse: false,
            broker: Some(broker(instance, all, server)?),
            certificates: CERTIFICATES.into_iter().map(certificate).collect(),
            trust: TRUST.into_iter().map(trust).collect(),
            revoked: Vec::new(),
        })
    }

    /// What an agent says that has made it so.
    pub fn report(&self, desired: &Desired) -> Report {
        let request = |name: &str| CertificateRequest {
            name: name.into(),
            generation: 1,
            csr: self.request.clone(),
        };
        Report {
            incarnation: desired.incarnation,
            agent_version: env!("CARGO_PKG_VERSION").into(),
            agent_pid: Some(4710),
            revision: desired.revision,
            store_epoch: desired.store_epoch,
            phase: Phase::Running,
            detail: String::new(),
            log_tail: Vec::new(),
            broker_pid: Some(4711),
            restarts: 0,
            config_hash: desired.broker.as_ref().map(|broker| broker.config_hash.clone()),
            launch: desired.launch,
            disk_fault: None,
            waits_for_leave: None,
            wait_is_passing: false,
            loading: None,
            silent_since: None,
            requests: CERTIFICATES.into_iter().map(request).collect(),
            certificates: vec![],
            integrations: None,
        }
    }
}

fn broker(instance: &Instance, all: &[Server], server: &Server) -> Result<DesiredBroker> {
    let release = kafka::versions::release(server.kafka_version);
    let rendered = render(&BrokerSpec {
        release: release.context("servers are of a release that is supported")?,
        node_id: server.node_id,
        roles: server.roles.clone(),
        listeners: server.listeners.clone(),
        private_ip: server.private_ip.clone(),
        controllers: all.iter().map(|it| Endpoint::from(&it.listeners.controller)).collect(),
        servers: instance.nodes,
        zone: server.zone.clone(),
        cores: CORES,
        memory_mb: MEMORY_MB,
        max_heap_mb: None,
        shared: false,
        settings: BTreeMap::new(),
    });
    Ok(DesiredBroker {
        kafka_version: server.kafka_version,
        properties: rendered.properties,
        logging_file: rendered.logging_file,
        logging: rendered.logging,
        jvm_flags: rendered.jvm_flags,
        config_hash: rendered.config_hash,
    })
}
