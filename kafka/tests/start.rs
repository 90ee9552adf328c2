//! A real broker of the newest release, from fetching to stopping.

#![allow(clippy::unwrap_used, reason = "it is a test")]

use model::KafkaVersion;
use rustls::RootCertStore;
use rustls::pki_types::ServerName;
use std::sync::Arc;
use test_support::broker::{ADDRESS, Authority, Broker, DIRECTORY_ID};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

/// The certificate that a listener shows to a client that trusts the authority.
async fn shown(authority: &Authority, port: u16) -> Vec<u8> {
    let mut roots = RootCertStore::empty();
    roots.add(authority.der().into()).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = rustls::ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    let tcp = TcpStream::connect((ADDRESS, port)).await.unwrap();
    let name = ServerName::IpAddress(ADDRESS.into());
    let tls = TlsConnector::from(Arc::new(config)).connect(name, tcp).await.unwrap();
    tls.get_ref().1.peer_certificates().unwrap()[0].to_vec()
}

#[tokio::test]
async fn a_rendered_broker_starts_serves_new_certificates_and_stops() {
    let authority = Authority::new();
    let broker = Broker::start(KafkaVersion::new(4, 3, 1), &authority, true).await;

    assert_eq!(broker.read("run/started").trim(), broker.process.pid.to_string());
    let directory = format!("directory.id={DIRECTORY_ID}");
    assert!(broker.read("disk/FORMATTED").contains(&directory));
    assert!(broker.read("disk/data/meta.properties").contains(&directory));
    for listener in broker.listeners.all() {
        TcpStream::connect((ADDRESS, listener.port)).await.unwrap();
    }

    let port = broker.listeners.sasl_scram.port;
    let before = shown(&authority, port).await;
    let (pem, renewed) = authority.issue();
    host::write_private(&broker.path("tls/server.pem"), pem.as_bytes()).unwrap();
    assert_ne!(before, renewed);
    assert_eq!(shown(&authority, port).await, renewed);

    // A broken file changes nothing, and the log tells of it.
    host::write_private(&broker.path("tls/server.pem"), b"broken").unwrap();
    assert_eq!(shown(&authority, port).await, renewed);
    let complaint = "can't be used, the old ones stay in use";
    broker.until("it complains", || broker.read("logs/server.log").contains(complaint)).await;

    let process = broker.process.clone();
    assert_eq!(broker.stop().await, "exit status: 143");
    assert!(!process.is_alive());
}
