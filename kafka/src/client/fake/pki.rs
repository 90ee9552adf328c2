//! Certificates of a cluster that lives as long as a test.

use crate::client::{Identity, Stream};
use model::Secret;
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair};
use rustls::RootCertStore;
use rustls::ServerConfig;
use rustls::pki_types::PrivateKeyDer;
use rustls::pki_types::pem::PemObject;
use rustls::server::WebPkiClientVerifier;
use std::io;
use std::sync::Arc;
use tokio_rustls::TlsAcceptor;

pub struct FakeCa(CertifiedIssuer<'static, KeyPair>);

impl FakeCa {
    pub fn new(name: &str) -> Self {
        let mut params = CertificateParams::default();
        params.distinguished_name.push(DnType::CommonName, name);
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        Self(CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap())
    }

    pub fn pem(&self) -> String {
        self.0.pem()
    }

    /// A certificate for these names and addresses.
    pub fn issue(&self, hosts: &[&str]) -> Identity {
        let key = KeyPair::generate().unwrap();
        let hosts: Vec<String> = hosts.iter().map(ToString::to_string).collect();
        let certificate = CertificateParams::new(hosts).unwrap().signed_by(&key, &self.0).unwrap();
        Identity {
            certificate_chain_pem: certificate.pem(),
            key_pem: Secret::new(key.serialize_pem()),
        }
    }
}

/// The server's side of a handshake that asks for a client certificate of
/// `ca`.
pub async fn accept(
    stream: impl Stream + 'static,
    ca: &FakeCa,
    identity: &Identity,
) -> io::Result<Box<dyn Stream>> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut roots = RootCertStore::empty();
    roots.add(ca.0.der().clone()).unwrap();
    let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider.clone());
    let chain = rustls::pki_types::CertificateDer::pem_slice_iter(
        identity.certificate_chain_pem.as_bytes(),
    );
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_client_cert_verifier(verifier.build().unwrap())
        .with_single_cert(
            chain.collect::<Result<_, _>>().unwrap(),
            PrivateKeyDer::from_pem_slice(identity.key_pem.expose().as_bytes()).unwrap(),
        )
        .unwrap();
    let stream = TlsAcceptor::from(Arc::new(config)).accept(stream).await?;
    Ok(Box::new(stream))
}
