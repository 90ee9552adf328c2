//! Whose certificates are believed.

use crate::call::BadCaller;
use rustls::crypto::ring;
use rustls::{ClientConfig, RootCertStore};
use rustls_pki_types::CertificateDer;
use rustls_pki_types::pem::PemObject as _;
use std::sync::Arc;

/// The authorities that this machine trusts and the one that the operator adds. On a machine
/// without any, calls without TLS still work, and the others fail with the reason.
pub fn tls(authority_pem: Option<&str>) -> Result<ClientConfig, BadCaller> {
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    if let Some(pem) = authority_pem {
        let found: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(pem.as_bytes()).collect();
        let found = found.map_err(|_| BadCaller::Authority)?;
        // A text without any certificate would be taken for an empty list.
        if found.is_empty() {
            return Err(BadCaller::Authority);
        }
        for certificate in found {
            roots.add(certificate).map_err(|_| BadCaller::Authority)?;
        }
    }
    let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .expect("this provider has ciphers for them");
    Ok(config.with_root_certificates(roots).with_no_client_auth())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_authority_is_a_certificate() {
        let good = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
        assert!(tls(None).is_ok());
        assert!(tls(Some(&good.cert.pem())).is_ok());
        let bad = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
        for text in ["", "no certificate", bad] {
            assert!(matches!(tls(Some(text)), Err(BadCaller::Authority)), "{text:?}");
        }
    }
}
