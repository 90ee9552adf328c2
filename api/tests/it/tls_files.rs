//! The certificate of the APIs, replaced under a listener that serves.

use crate::listen::now;
use crate::world::World;
use model::{SeededEntropy, SignedDuration};
use pki::{Authority, Leaf, Usage};
use rustls::{ClientConfig, RootCertStore};
use rustls_pki_types::CertificateDer;
use rustls_pki_types::pem::PemObject as _;
use std::fs;
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;
use tokio_util::sync::CancellationToken;
use web::Options;
use web::tls::CertificateFiles;

struct Pair {
    certificate: String,
    key: String,
}

fn pair(authority: &Authority, name: &str) -> Pair {
    let leaf = Leaf {
        common_name: name.into(),
        hosts: vec!["127.0.0.1".into()],
        usage: Usage::Server,
        valid_for: SignedDuration::from_hours(1),
    };
    let entropy = SeededEntropy::new(u64::try_from(name.len()).unwrap());
    let (certificate, key) = authority.issue_with_key(&leaf, now(), &entropy).unwrap();
    Pair { certificate, key: key.expose().to_owned() }
}

async fn connect(authority: &Authority, to: SocketAddr) -> TlsStream<TcpStream> {
    let mut roots = RootCertStore::empty();
    let trusted = CertificateDer::from_pem_slice(authority.certificate.as_bytes()).unwrap();
    roots.add(trusted).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    let stream = TcpStream::connect(to).await.unwrap();
    let name = "127.0.0.1".try_into().unwrap();
    TlsConnector::from(Arc::new(config)).connect(name, stream).await.unwrap()
}

/// Whether a new connection is shown this certificate.
async fn serves(authority: &Authority, to: SocketAddr, pair: &Pair) -> bool {
    let stream = connect(authority, to).await;
    let shown = stream.get_ref().1.peer_certificates().unwrap()[0].clone();
    shown == CertificateDer::from_pem_slice(pair.certificate.as_bytes()).unwrap()
}

async fn is_answered(stream: &mut TlsStream<TcpStream>) {
    stream.write_all(b"GET /api/plans HTTP/1.1\r\nhost: x\r\n\r\n").await.unwrap();
    let mut answer = [0; 8192];
    let read = tokio::time::timeout(Duration::from_secs(10), stream.read(&mut answer));
    let read = read.await.expect("no answer").unwrap();
    assert!(answer[..read].starts_with(b"HTTP/1.1 401"), "{:?}", &answer[..read]);
}

#[tokio::test]
async fn a_new_pair_is_served_and_a_broken_one_is_not() {
    let world = World::new().await;
    let directory = tempfile::tempdir().unwrap();
    let (cert_file, key_file) =
        (directory.path().join("tls.crt"), directory.path().join("tls.key"));
    let authority = Authority::create("An authority", now(), world.app.entropy()).unwrap();
    let (old, new) = (pair(&authority, "old"), pair(&authority, "newer"));
    fs::write(&cert_file, &old.certificate).unwrap();
    assert!(CertificateFiles::open(&cert_file, &key_file).is_err(), "there is no key");
    fs::write(&key_file, &old.key).unwrap();
    let mut files = CertificateFiles::open(&cert_file, &key_file).unwrap();

    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let to = listener.local_addr().unwrap();
    let stop = CancellationToken::new();
    let options = Options { stopping: stop.clone(), ..Options::default() };
    let router = api::customer_router(world.app.clone(), options.clone());
    let task = tokio::spawn(web::listen::serve(listener, router, Some(files.served()), options));
    assert!(serves(&authority, to, &old).await);
    let mut open = connect(&authority, to).await;
    is_answered(&mut open).await;

    // Each of these is an error once, and the old pair is served meanwhile.
    let half = &new.certificate[..new.certificate.len() / 2];
    let expected = [
        (Some(new.certificate.as_str()), "certificate and its key can't be used"),
        (Some(half), "holds no PEM certificate"),
        (Some(""), "holds no PEM certificate"),
        (None, "can't be read"),
    ];
    for (text, reason) in expected {
        match text {
            Some(text) => fs::write(&cert_file, text).unwrap(),
            None => fs::remove_file(&cert_file).unwrap(),
        }
        let error = files.look().unwrap_err().to_string();
        assert!(error.contains(reason) && error.contains("tls.crt"), "{error}");
        files.look().unwrap_or_else(|error| panic!("said twice: {error}"));
        assert!(serves(&authority, to, &old).await, "{reason}");
    }

    fs::write(&cert_file, &new.certificate).unwrap();
    fs::write(&key_file, &new.key).unwrap();
    files.look().unwrap();
    assert!(serves(&authority, to, &new).await);
    is_answered(&mut open).await;
    stop.cancel();
    drop(open);
    tokio::time::timeout(Duration::from_secs(10), task).await.unwrap().unwrap().unwrap();
}
