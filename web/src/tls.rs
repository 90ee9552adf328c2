//! TLS settings of the listeners, with the ring provider alone.

mod files;

pub use files::CertificateFiles;

use model::Secret;
use rustls::crypto::CryptoProvider;
use rustls::server::WebPkiClientVerifier;
use rustls::{RootCertStore, ServerConfig};
use rustls_pki_types::pem::PemObject as _;
use rustls_pki_types::{CertificateDer, PrivateKeyDer};
use std::sync::Arc;
use tokio::sync::watch;

/// What a listener shakes hands with; whoever renews the certificate sends another.
pub type Served = watch::Receiver<Arc<ServerConfig>>;

/// Why a certificate can't be served.
#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    #[error("the certificate file holds no PEM certificate")]
    NoCertificate,
    #[error("the key file holds no PEM private key")]
    NoKey,
    #[error("the certificate and its key can't be used: {0}")]
    Unusable(#[from] rustls::Error),
    #[error("the authority of clients can't be used: {0}")]
    Verifier(#[from] rustls::server::VerifierBuilderError),
}

/// For the two APIs: a certificate, and nothing asked of clients.
pub fn server(chain_pem: &str, key_pem: &Secret) -> Result<Arc<ServerConfig>, TlsError> {
    let config = ServerConfig::builder_with_provider(provider())
        .with_safe_default_protocol_versions()?
        .with_no_client_auth()
        .with_single_cert(chain(chain_pem)?, key(key_pem)?)?;
    Ok(finished(config))
}

/// For agents: a client's certificate is verified against the fleet's
/// authority. It may be left out, because enrolment comes before it.
pub fn agents(
    chain_pem: &str,
    key_pem: &Secret,
    fleet_ca_pem: &str,
) -> Result<Arc<ServerConfig>, TlsError> {
    let mut roots = RootCertStore::empty();
    for certificate in chain(fleet_ca_pem)? {
        roots.add(certificate)?;
    }
    let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider())
        .allow_unauthenticated()
        .build()?;
    let config = ServerConfig::builder_with_provider(provider())
        .with_safe_default_protocol_versions()?
        .with_client_cert_verifier(verifier)
        .with_single_cert(chain(chain_pem)?, key(key_pem)?)?;
    Ok(finished(config))
}

fn provider() -> Arc<CryptoProvider> {
    Arc::new(rustls::crypto::ring::default_provider())
}

fn chain(pem: &str) -> Result<Vec<CertificateDer<'static>>, TlsError> {
    let chain: Vec<_> = CertificateDer::pem_slice_iter(pem.as_bytes())
        .collect::<Result<_, _>>()
        .map_err(|_| TlsError::NoCertificate)?;
    if chain.is_empty() { Err(TlsError::NoCertificate) } else { Ok(chain) }
}

fn key(pem: &Secret) -> Result<PrivateKeyDer<'static>, TlsError> {
    PrivateKeyDer::from_pem_slice(pem.expose().as_bytes()).map_err(|_| TlsError::NoKey)
}

fn finished(mut config: ServerConfig) -> Arc<ServerConfig> {
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Arc::new(config)
}
