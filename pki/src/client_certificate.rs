//! What a customer's request gets: a certificate that makes its holder one user
//! of one cluster and nothing else.
//!
//! It names the user and no other thing, is good for clients alone, and can't
//! sign. Its signature depends on nothing but what is signed, so that the same
//! request at the same moment, with the same serial, gives the same bytes.

use crate::authority::{backdate, serial_bytes};
use crate::{Authority, ClientRequest, Error};
use model::{Entropy, SignedDuration, Timestamp};
use p256::ecdsa::{DerSignature, SigningKey};
use p256::pkcs8::DecodePrivateKey as _;
use std::time::Duration;
use x509_cert::Certificate;
use x509_cert::SubjectPublicKeyInfo;
use x509_cert::builder::profile::BuilderProfile;
use x509_cert::builder::{self, Builder as _, CertificateBuilder};
use x509_cert::certificate::TbsCertificate;
use x509_cert::der::asn1::ObjectIdentifier;
use x509_cert::der::pem::LineEnding;
use x509_cert::der::{DateTime, DecodePem as _, EncodePem as _};
use x509_cert::ext::pkix::{
    AuthorityKeyIdentifier, BasicConstraints, ExtendedKeyUsage, KeyUsage, KeyUsages,
    SubjectKeyIdentifier,
};
use x509_cert::ext::{Extension, ToExtension as _};
use x509_cert::name::Name;
use x509_cert::serial_number::SerialNumber;
use x509_cert::spki::SubjectPublicKeyInfoRef;
use x509_cert::time::Validity;

const LIFE: SignedDuration = SignedDuration::from_hours(24 * 397);
const CLIENT_AUTH: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.3.6.1.5.5.7.3.2");

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ClientCertificate {
    /// Followed by the certificate of the authority that signed it, which leads to the root.
    pub pem: String,
    /// In hex, lower case.
    pub serial: String,
    pub expires_at: Timestamp,
}

impl Authority {
    /// Signs what was asked for; whether that name may be had is the caller's to say.
    pub fn issue_to_client(
        &self,
        request: &ClientRequest,
        now: Timestamp,
        entropy: &dyn Entropy,
    ) -> Result<ClientCertificate, Error> {
        let issuer =
            Certificate::from_pem(self.certificate.as_bytes()).map_err(|_| Error::BadAuthority)?;
        let key = SigningKey::from_pkcs8_pem(self.key.expose()).map_err(|_| Error::BadAuthority)?;
        let own = SubjectPublicKeyInfo::from_key(key.verifying_key()).ok();
        if own.as_ref() != Some(issuer.tbs_certificate().subject_public_key_info()) {
            return Err(Error::BadAuthority);
        }
        let serial = serial_bytes(entropy);
        let expires_at = expiry(&issuer, now);
        let built = build(&issuer, &key, request, &serial, (now - backdate(LIFE), expires_at));
        let pem = built.and_then(|certificate| Ok(certificate.to_pem(LineEnding::LF)?));
        let pem = pem.map_err(|error| Error::Build(error.to_string()))?;
        let serial = format!("{:032x}", u128::from_be_bytes(serial));
        Ok(ClientCertificate { pem: pem + &self.certificate, serial, expires_at })
    }
}

/// In whole seconds, as certificates have them. None outlives its authority.
fn expiry(issuer: &Certificate, now: Timestamp) -> Timestamp {
    let last = issuer.tbs_certificate().validity().not_after.to_unix_duration().as_secs();
    let second = i64::try_from(last).unwrap_or(i64::MAX).min((now + LIFE).as_second());
    Timestamp::from_second(second).unwrap_or(now)
}

fn build(
    issuer: &Certificate,
    key: &SigningKey,
    request: &ClientRequest,
    serial: &[u8],
    (from, to): (Timestamp, Timestamp),
) -> builder::Result<Certificate> {
    let profile = Client {
        issuer: issuer.tbs_certificate(),
        // A user's name has no character that would have to be quoted.
        subject: format!("CN={}", request.name).parse()?,
    };
    let validity = Validity::new(date(from)?.into(), date(to)?.into());
    let serial = SerialNumber::new(serial)?;
    CertificateBuilder::new(profile, serial, validity, request.key.clone())?
        .build::<_, DerSignature>(key)
}

fn date(at: Timestamp) -> x509_cert::der::Result<DateTime> {
    DateTime::from_unix_duration(Duration::from_secs(at.as_second().try_into().unwrap_or(0)))
}

/// What every such certificate says.
struct Client<'a> {
    issuer: &'a TbsCertificate,
    subject: Name,
}

impl BuilderProfile for Client<'_> {
    fn get_issuer(&self, _: &Name) -> Name {
        self.issuer.subject().clone()
    }

    fn get_subject(&self) -> Name {
        self.subject.clone()
    }

    fn build_extensions(
        &self,
        key: SubjectPublicKeyInfoRef<'_>,
        _: SubjectPublicKeyInfoRef<'_>,
        _: &TbsCertificate,
    ) -> builder::Result<Vec<Extension>> {
        let subject = &self.subject;
        let no_authority = BasicConstraints { ca: false, path_len_constraint: None };
        let mut extensions = vec![
            (true, &no_authority).to_extension(subject, &[])?,
            (true, &KeyUsage(KeyUsages::DigitalSignature.into())).to_extension(subject, &[])?,
            (true, &ExtendedKeyUsage(vec![CLIENT_AUTH])).to_extension(subject, &[])?,
            (false, &SubjectKeyIdentifier::try_from(key)?).to_extension(subject, &[])?,
        ];
        // The authority's own word for its key: verifiers compare the two.
        if let Some((_, id)) = self.issuer.get_extension::<SubjectKeyIdentifier>()? {
            let id = AuthorityKeyIdentifier { key_identifier: Some(id.0), ..<_>::default() };
            extensions.push((false, &id).to_extension(subject, &[])?);
        }
        Ok(extensions)
    }
}
