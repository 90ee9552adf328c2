//! Key pairs and requests for certificates.

use crate::Error;
use model::Secret;
use rcgen::{
    CertificateParams, CertificateSigningRequestParams, DistinguishedName, DnType,
    PKCS_ECDSA_P256_SHA256, PublicKeyData,
};
use x509_parser::certification_request::X509CertificationRequest;
use x509_parser::pem::parse_x509_pem;
use x509_parser::prelude::FromDer;

/// A P-256 key pair: small, fast, and taken by Kafka and rustls alike.
#[derive(Debug)]
pub struct KeyPair(pub(crate) rcgen::KeyPair);

impl KeyPair {
    pub fn generate() -> Self {
        let key = rcgen::KeyPair::generate_for(&PKCS_ECDSA_P256_SHA256);
        Self(key.expect("the operating system gives random numbers"))
    }

    pub fn from_pem(pem: &str) -> Result<Self, Error> {
        rcgen::KeyPair::from_pem(pem).map(Self).map_err(|_| Error::BadKey)
    }

    pub fn private_key_pem(&self) -> Secret {
        Secret::new(self.0.serialize_pem())
    }

    /// The public key, DER-encoded: what tells one key from another.
    pub fn public_key_der(&self) -> Vec<u8> {
        self.0.subject_public_key_info()
    }
}

/// Asks for a certificate for this key, as PEM.
pub fn request(key: &KeyPair, common_name: &str) -> Result<String, Error> {
    let mut params = CertificateParams::default();
    params.distinguished_name = DistinguishedName::new();
    params.distinguished_name.push(DnType::CommonName, common_name);
    Ok(params.serialize_request(&key.0)?.pem()?)
}

/// A request of one of our own agents, its signature checked.
pub struct Request(pub(crate) CertificateSigningRequestParams);

impl Request {
    pub fn parse(pem: &str) -> Result<Self, Error> {
        CertificateSigningRequestParams::from_pem(pem).map(Self).map_err(|_| Error::BadRequest)
    }

    /// The public key, DER-encoded.
    pub fn public_key_der(&self) -> Vec<u8> {
        self.0.public_key.subject_public_key_info()
    }
}

/// Whether a certificate was issued for the key of this request. False if
/// either can't be read. The request's signature was checked before it was
/// answered, and is not checked again: every look of the engine asks this.
pub fn answers(certificate_pem: &str, request_pem: &str) -> bool {
    let Ok((_, leaf)) = parse_x509_pem(certificate_pem.as_bytes()) else { return false };
    let Ok((_, request)) = parse_x509_pem(request_pem.as_bytes()) else { return false };
    let Ok((_, request)) = X509CertificationRequest::from_der(&request.contents) else {
        return false;
    };
    let asked = request.certification_request_info.subject_pki.raw;
    leaf.parse_x509().is_ok_and(|leaf| leaf.public_key().raw == asked)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_survives_its_pem() {
        let key = KeyPair::generate();
        let again = KeyPair::from_pem(key.private_key_pem().expose()).unwrap();
        assert_eq!(key.public_key_der(), again.public_key_der());
        assert!(KeyPair::from_pem("nonsense").is_err());
    }

    #[test]
    fn a_request_whose_signature_was_touched_is_refused() {
        let key = KeyPair::generate();
        let pem = request(&key, "server-1").unwrap();
        assert_eq!(Request::parse(&pem).unwrap().public_key_der(), key.public_key_der());
        assert!(Request::parse("nonsense").is_err());

        let lines: Vec<&str> = pem.lines().collect();
        let signed_by_nobody =
            lines[..lines.len() - 2].join("\n") + "\nAAAA\n" + lines[lines.len() - 1];
        assert!(Request::parse(&signed_by_nobody).is_err());
    }
}
