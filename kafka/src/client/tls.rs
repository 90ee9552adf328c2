//! TLS to a broker: who we trust, who we are, and whom we expect.
//!
//! The broker's certificate must hold the host we dialled: a name, or an
//! address as an IP subject alternative name. Nothing here can be told to skip
//! that check.

use super::dial::in_words;
use super::{Endpoint, Error, Stream};
use model::Secret;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::{ClientConfig, RootCertStore};
use std::fmt::Display;
use std::io;
use std::sync::Arc;
use tokio_rustls::TlsConnector;

/// A certificate, the ones that lead to its CA, and its key.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Identity {
    pub certificate_chain_pem: String,
    pub key_pem: Secret,
}

/// The client side of TLS. `trust_pem` is one or more CA certificates.
pub fn client_config(
    trust_pem: &str,
    identity: Option<&Identity>,
) -> Result<Arc<ClientConfig>, Error> {
    let mut roots = RootCertStore::empty();
    for certificate in certificates("the list of trusted CAs", trust_pem)? {
        roots.add(certificate).map_err(|error| bad("the list of trusted CAs", &error))?;
    }
    // Named here, so that it doesn't matter which provider the process has
    // installed, or whether it has.
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| bad("the TLS provider", &error))?
        .with_root_certificates(roots);
    let config = match identity {
        None => builder.with_no_client_auth(),
        Some(identity) => {
            let chain = certificates("our certificate", &identity.certificate_chain_pem)?;
            // What the parser says of a key could quote it.
            let key = PrivateKeyDer::from_pem_slice(identity.key_pem.expose().as_bytes())
                .map_err(|_| bad("our private key", &"it is not a private key in PEM form"))?;
            builder
                .with_client_auth_cert(chain, key)
                .map_err(|error| bad("our certificate and key", &error))?
        }
    };
    Ok(Arc::new(config))
}

fn certificates(what: &'static str, pem: &str) -> Result<Vec<CertificateDer<'static>>, Error> {
    let list = CertificateDer::pem_slice_iter(pem.as_bytes())
        .collect::<Result<Vec<_>, _>>()
        .map_err(|error| bad(what, &error))?;
    if list.is_empty() {
        return Err(bad(what, &"there is no certificate in it"));
    }
    Ok(list)
}

fn bad(what: &'static str, reason: &dyn Display) -> Error {
    Error::BadPem { what, reason: reason.to_string() }
}

/// Puts TLS on a stream.
pub async fn handshake(
    stream: Box<dyn Stream>,
    endpoint: &Endpoint,
    config: &Arc<ClientConfig>,
) -> Result<Box<dyn Stream>, Error> {
    let name = ServerName::try_from(endpoint.host.clone()).map_err(|_| Error::Tls {
        endpoint: endpoint.clone(),
        reason: "the host is neither a DNS name nor an IP address".to_owned(),
    })?;
    let connector = TlsConnector::from(Arc::clone(config));
    match connector.connect(name, stream).await {
        Ok(stream) => Ok(Box::new(stream)),
        Err(error) => Err(match reason(&error) {
            Some(reason) => Error::Tls { endpoint: endpoint.clone(), reason },
            // The broker went away, which says nothing about certificates.
            None => Error::Unreachable { endpoint: endpoint.clone(), reason: in_words(&error) },
        }),
    }
}

/// What TLS itself complained of, if it did.
pub(super) fn reason(error: &io::Error) -> Option<String> {
    let error = error.get_ref()?.downcast_ref::<rustls::Error>()?;
    Some(error.to_string())
}

#[cfg(test)]
mod tests;
