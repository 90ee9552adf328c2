//! A customer's request for a certificate, as openssl and keytool make it.
//!
//! Two things are taken from it: the public key, if it is of a kind that brokers
//! take, and one common name. Whatever else it asks for can't reach a certificate,
//! and is not even read; but who asks to be an authority is told that they are none.
//! The key is written down anew, without whatever parameters came along.

use model::UserName;
use x509_cert::SubjectPublicKeyInfo;
use x509_cert::der::asn1::{Any, BitString, Null, ObjectIdentifier};
use x509_cert::spki::AlgorithmIdentifierOwned;
use x509_parser::certification_request::{X509CertificationRequest, X509CertificationRequestInfo};
use x509_parser::cri_attributes::ParsedCriAttribute;
use x509_parser::error::X509Error;
use x509_parser::extensions::ParsedExtension;
use x509_parser::oid_registry::{
    OID_EC_P256, OID_KEY_TYPE_EC_PUBLIC_KEY, OID_NIST_EC_P384, OID_PKCS1_RSAENCRYPTION,
    OID_PKCS1_RSASSAPSS, OID_PKCS1_SHA256WITHRSA, OID_PKCS1_SHA384WITHRSA, OID_PKCS1_SHA512WITHRSA,
    OID_SIG_ECDSA_WITH_SHA256, OID_SIG_ECDSA_WITH_SHA384, OID_SIG_ED25519, Oid,
};
use x509_parser::pem::{Pem, parse_x509_pem};
use x509_parser::prelude::FromDer;
use x509_parser::public_key::PublicKey;
use x509_parser::x509::{SubjectPublicKeyInfo as AskedKey, X509Name};

/// The largest key with a hundred names beside it takes a fraction of this.
const LARGEST: usize = 64 * 1024;
/// keytool's is the older one of the two.
const LABELS: [&str; 2] = ["CERTIFICATE REQUEST", "NEW CERTIFICATE REQUEST"];
const RSA_BITS: std::ops::RangeInclusive<usize> = 2048..=8192;

const RSA: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.113549.1.1.1");
const EC: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.10045.2.1");
const P256: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.10045.3.1.7");
const P384: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.3.132.0.34");
const ED25519: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.3.101.112");

/// Why a request gets no certificate, as a sentence about its field.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Refusal {
    #[error("must be at most 64 KiB, which any certificate request is")]
    TooLarge,
    #[error(
        "must be one certificate request in PEM and nothing after it, as `openssl req -new` \
         and `keytool -certreq` write it"
    )]
    NoPem,
    #[error(
        "holds a private key; send the certificate request alone, and don't use that key any more"
    )]
    PrivateKey,
    #[error("must be a certificate request (PKCS #10); its PEM block holds something else")]
    NoRequest,
    #[error("must be signed by the key that it holds; its signature does not fit")]
    BadSignature,
    #[error("must be signed with SHA-256 or SHA-384; make it anew with `openssl req -new -sha256`")]
    UnknownSignature,
    #[error("has an RSA key of {0} bits; it must have 2048 to 8192")]
    RsaBits(usize),
    #[error("must have an RSA key of 2048 bits or more, or one of P-256, P-384 or Ed25519")]
    UnknownKey,
    #[error(
        "asks to be an authority (basicConstraints CA:TRUE), which no client is; make it anew \
         without that"
    )]
    Authority,
    #[error("has no common name; make it with one, as in `-subj /CN=orders`")]
    NoName,
    #[error("has {0} common names; it must have one")]
    SeveralNames(usize),
    #[error(
        "has a common name that can't be a user's; it must be 1 to 64 letters, digits, dots, \
         underscores and hyphens, and begin with a letter or digit"
    )]
    BadName,
}

/// Checked and proven: whoever made it has the private key.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ClientRequest {
    pub(crate) name: UserName,
    pub(crate) key: SubjectPublicKeyInfo,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Rsa,
    P256,
    P384,
    Ed25519,
}

impl ClientRequest {
    pub fn parse(pem: &str) -> Result<Self, Refusal> {
        let der = unwrap(pem)?;
        let Ok((rest, request)) = X509CertificationRequest::from_der(&der) else {
            return Err(Refusal::NoRequest);
        };
        if !rest.is_empty() {
            return Err(Refusal::NoRequest);
        }
        let asked = &request.certification_request_info;
        let kind = kind(&asked.subject_pki)?;
        // The check of a signature goes by its own algorithm, whatever the key is.
        if !kind.signs_with(&request.signature_algorithm.algorithm) {
            return Err(Refusal::UnknownSignature);
        }
        // Nobody looks at these bits, so they must be none.
        if request.signature_value.unused_bits != 0 {
            return Err(Refusal::BadSignature);
        }
        request.verify_signature().map_err(|error| match error {
            X509Error::SignatureUnsupportedAlgorithm => Refusal::UnknownSignature,
            _ => Refusal::BadSignature,
        })?;
        if asks_to_be_an_authority(asked) {
            return Err(Refusal::Authority);
        }
        let key = kind.key(&asked.subject_pki).ok_or(Refusal::UnknownKey)?;
        Ok(Self { name: name(&asked.subject)?, key })
    }

    /// Who asks.
    pub fn name(&self) -> &UserName {
        &self.name
    }
}

/// What the one PEM block of a text holds.
fn unwrap(text: &str) -> Result<Vec<u8>, Refusal> {
    if text.len() > LARGEST {
        return Err(Refusal::TooLarge);
    }
    if text.contains("PRIVATE KEY-----") {
        return Err(Refusal::PrivateKey);
    }
    let pem = block(text).or_else(|| block(&with_pluses(text))).ok_or(Refusal::NoPem)?;
    if LABELS.contains(&pem.label.as_str()) { Ok(pem.contents) } else { Err(Refusal::NoRequest) }
}

/// The block that ends the text. openssl can put words for people before it.
fn block(text: &str) -> Option<Pem> {
    let (rest, pem) = parse_x509_pem(text.as_bytes()).ok()?;
    let ends = text.trim_end().ends_with(&format!("-----END {}-----", pem.label));
    (rest.trim_ascii().is_empty() && ends).then_some(pem)
}

/// A form that was not encoded (`curl -d`) has a space for each plus. No other
/// space can be in a line of base64, and the signature tells if that is wrong.
fn with_pluses(text: &str) -> String {
    let line = |line: &str| match line.trim_end_matches(['\r', '\n']) {
        words if words.starts_with("-----") => format!("{words}\n"),
        base64 => format!("{}\n", base64.replace(' ', "+")),
    };
    text.split_inclusive('\n').map(line).collect()
}

fn kind(key: &AskedKey) -> Result<Kind, Refusal> {
    let algorithm = &key.algorithm.algorithm;
    if *algorithm == OID_PKCS1_RSAENCRYPTION {
        return match key.parsed() {
            Ok(PublicKey::RSA(rsa)) if RSA_BITS.contains(&bits(rsa.modulus)) => Ok(Kind::Rsa),
            Ok(PublicKey::RSA(rsa)) => Err(Refusal::RsaBits(bits(rsa.modulus))),
            _ => Err(Refusal::UnknownKey),
        };
    }
    if *algorithm == OID_SIG_ED25519 {
        return Ok(Kind::Ed25519);
    }
    let curve = key.algorithm.parameters.as_ref().and_then(|curve| curve.as_oid().ok());
    match curve {
        Some(curve) if *algorithm == OID_KEY_TYPE_EC_PUBLIC_KEY && curve == OID_EC_P256 => {
            Ok(Kind::P256)
        }
        Some(curve) if *algorithm == OID_KEY_TYPE_EC_PUBLIC_KEY && curve == OID_NIST_EC_P384 => {
            Ok(Kind::P384)
        }
        _ => Err(Refusal::UnknownKey),
    }
}

/// Of a number in bytes.
fn bits(number: &[u8]) -> usize {
    let zeros = number.iter().take_while(|byte| **byte == 0).count();
    let first = number.get(zeros).map_or(0, |byte| byte.leading_zeros() as usize);
    (number.len() - zeros) * 8 - first
}

impl Kind {
    fn signs_with(self, signature: &Oid) -> bool {
        let fitting: &[Oid] = match self {
            Kind::Rsa => &[
                OID_PKCS1_SHA256WITHRSA,
                OID_PKCS1_SHA384WITHRSA,
                OID_PKCS1_SHA512WITHRSA,
                OID_PKCS1_RSASSAPSS,
            ],
            Kind::P256 | Kind::P384 => &[OID_SIG_ECDSA_WITH_SHA256, OID_SIG_ECDSA_WITH_SHA384],
            Kind::Ed25519 => &[OID_SIG_ED25519],
        };
        fitting.contains(signature)
    }

    /// The key as it stands in a certificate.
    fn key(self, asked: &AskedKey) -> Option<SubjectPublicKeyInfo> {
        let (oid, parameters) = match self {
            Kind::Rsa => (RSA, Some(Any::from(Null))),
            Kind::P256 => (EC, Some(Any::from(P256))),
            Kind::P384 => (EC, Some(Any::from(P384))),
            Kind::Ed25519 => (ED25519, None),
        };
        let subject_public_key = BitString::from_bytes(&asked.subject_public_key.data).ok()?;
        let algorithm = AlgorithmIdentifierOwned { oid, parameters };
        Some(SubjectPublicKeyInfo { algorithm, subject_public_key })
    }
}

fn asks_to_be_an_authority(asked: &X509CertificationRequestInfo) -> bool {
    asked.iter_attributes().any(|attribute| match attribute.parsed_attribute() {
        ParsedCriAttribute::ExtensionRequest(request) => request.extensions.iter().any(
            |it| matches!(it.parsed_extension(), ParsedExtension::BasicConstraints(it) if it.ca),
        ),
        _ => false,
    })
}

fn name(subject: &X509Name) -> Result<UserName, Refusal> {
    let names: Vec<_> = subject.iter_common_name().collect();
    let name = match names.as_slice() {
        [] => return Err(Refusal::NoName),
        [name] => name.as_str().map_err(|_| Refusal::BadName)?,
        several => return Err(Refusal::SeveralNames(several.len())),
    };
    if !name.starts_with(|first: char| first.is_ascii_alphanumeric()) {
        return Err(Refusal::BadName);
    }
    UserName::parse(name).map_err(|_| Refusal::BadName)
}
