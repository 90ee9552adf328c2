//! An authority and what it signs.

use crate::{Error, Facts, KeyPair, Request};
use model::{Entropy, Secret, SignedDuration, Timestamp};
use rcgen::{
    BasicConstraints, CertificateParams, DistinguishedName, DnType, ExtendedKeyUsagePurpose, IsCa,
    Issuer, KeyUsagePurpose, SanType, SerialNumber,
};
use std::net::IpAddr;
use time::OffsetDateTime;

const AUTHORITY_LIFE: SignedDuration = SignedDuration::from_hours(24 * 3653);
const ROOT_LIFE: SignedDuration = SignedDuration::from_hours(24 * 7305);

/// Clocks of servers and clients may run behind ours: so much earlier than it is issued
/// a certificate is valid. Never more than a tenth of its life, so that two thirds of
/// its validity are never over before it is issued.
pub(crate) fn backdate(valid_for: SignedDuration) -> SignedDuration {
    SignedDuration::from_hours(1).min(valid_for / 10).max(SignedDuration::ZERO)
}

/// A certificate authority: its certificate, and the key it signs with.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Authority {
    pub certificate: String,
    pub key: Secret,
}

/// What a certificate may be used for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Usage {
    Server,
    Client,
    /// Brokers are servers and clients of each other.
    Both,
}

/// What a certificate is to say.
#[derive(Clone, Debug)]
pub struct Leaf {
    pub common_name: String,
    /// Host names and IP addresses it is good for.
    pub hosts: Vec<String>,
    pub usage: Usage,
    pub valid_for: SignedDuration,
}

impl Authority {
    /// A new authority that signs leaves, good for ten years.
    pub fn create(name: &str, now: Timestamp, entropy: &dyn Entropy) -> Result<Self, Error> {
        Self::self_signed(&authority_params(name, now, AUTHORITY_LIFE, 0, entropy))
    }

    /// A new authority that signs intermediates, good for twenty years.
    pub fn create_root(name: &str, now: Timestamp, entropy: &dyn Entropy) -> Result<Self, Error> {
        Self::self_signed(&authority_params(name, now, ROOT_LIFE, 1, entropy))
    }

    /// A new authority under this root that signs leaves of one usage, good for ten years.
    pub fn create_intermediate(
        &self,
        name: &str,
        usage: Usage,
        now: Timestamp,
        entropy: &dyn Entropy,
    ) -> Result<Self, Error> {
        let key = KeyPair::generate();
        let life = self.at_most(AUTHORITY_LIFE, now)?;
        let mut params = authority_params(name, now, life, 0, entropy);
        params.use_authority_key_identifier_extension = true;
        params.extended_key_usages = usage.purposes();
        let certificate = params.signed_by(&key.0, &self.issuer()?)?;
        Ok(Self { certificate: certificate.pem(), key: key.private_key_pem() })
    }

    fn self_signed(params: &CertificateParams) -> Result<Self, Error> {
        let key = KeyPair::generate();
        let certificate = params.self_signed(&key.0)?;
        Ok(Self { certificate: certificate.pem(), key: key.private_key_pem() })
    }

    /// Signs a leaf for the key in the request.
    pub fn issue(
        &self,
        request: Request,
        leaf: &Leaf,
        now: Timestamp,
        entropy: &dyn Entropy,
    ) -> Result<String, Error> {
        let mut csr = request.0;
        csr.params = self.leaf_params(leaf, now, entropy)?;
        Ok(csr.signed_by(&self.issuer()?)?.pem())
    }

    /// Makes a key and a leaf for it in one go, for our own use.
    pub fn issue_with_key(
        &self,
        leaf: &Leaf,
        now: Timestamp,
        entropy: &dyn Entropy,
    ) -> Result<(String, Secret), Error> {
        let key = KeyPair::generate();
        let params = self.leaf_params(leaf, now, entropy)?;
        let certificate = params.signed_by(&key.0, &self.issuer()?)?;
        Ok((certificate.pem(), key.private_key_pem()))
    }

    fn issuer(&self) -> Result<Issuer<'static, rcgen::KeyPair>, Error> {
        let key = KeyPair::from_pem(self.key.expose())?;
        Issuer::from_ca_cert_pem(&self.certificate, key.0).map_err(|_| Error::BadAuthority)
    }

    /// What an authority signs is never valid for longer than its own certificate.
    fn at_most(&self, valid_for: SignedDuration, now: Timestamp) -> Result<SignedDuration, Error> {
        let own = Facts::read(&self.certificate).ok_or(Error::BadAuthority)?;
        Ok(valid_for.min(own.not_after.duration_since(now)))
    }

    fn leaf_params(
        &self,
        leaf: &Leaf,
        now: Timestamp,
        entropy: &dyn Entropy,
    ) -> Result<CertificateParams, Error> {
        let valid_for = self.at_most(leaf.valid_for, now)?;
        let mut params = base(&leaf.common_name, now, valid_for, entropy);
        params.is_ca = IsCa::ExplicitNoCa;
        params.use_authority_key_identifier_extension = true;
        params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
        params.extended_key_usages = leaf.usage.purposes();
        params.subject_alt_names =
            leaf.hosts.iter().map(|host| alternative_name(host)).collect::<Result<_, _>>()?;
        Ok(params)
    }
}

impl Usage {
    fn purposes(self) -> Vec<ExtendedKeyUsagePurpose> {
        match self {
            Usage::Server => vec![ExtendedKeyUsagePurpose::ServerAuth],
            Usage::Client => vec![ExtendedKeyUsagePurpose::ClientAuth],
            Usage::Both => {
                vec![ExtendedKeyUsagePurpose::ServerAuth, ExtendedKeyUsagePurpose::ClientAuth]
            }
        }
    }
}

/// `depth` is how many authorities may stand between this one and a leaf.
fn authority_params(
    name: &str,
    now: Timestamp,
    valid_for: SignedDuration,
    depth: u8,
    entropy: &dyn Entropy,
) -> CertificateParams {
    let mut params = base(name, now, valid_for, entropy);
    params.is_ca = IsCa::Ca(BasicConstraints::Constrained(depth));
    params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
    params
}

fn alternative_name(host: &str) -> Result<SanType, Error> {
    if let Ok(address) = host.parse::<IpAddr>() {
        return Ok(SanType::IpAddress(address));
    }
    let name = host.try_into().map_err(|_| Error::BadName(host.into()))?;
    Ok(SanType::DnsName(name))
}

fn base(
    common_name: &str,
    now: Timestamp,
    valid_for: SignedDuration,
    entropy: &dyn Entropy,
) -> CertificateParams {
    let mut params = CertificateParams::default();
    params.distinguished_name = DistinguishedName::new();
    params.distinguished_name.push(DnType::CommonName, common_name);
    params.not_before = date(now - backdate(valid_for));
    params.not_after = date(now + valid_for);
    params.serial_number = Some(SerialNumber::from_slice(&serial_bytes(entropy)));
    params
}

/// A number that nobody can guess and that no other certificate has.
pub(crate) fn serial_bytes(entropy: &dyn Entropy) -> [u8; 16] {
    let mut serial = [0; 16];
    entropy.fill(&mut serial);
    // X.509 wants a positive number that is not zero.
    serial[0] = serial[0] & 0x7f | 0x40;
    serial
}

fn date(at: Timestamp) -> OffsetDateTime {
    OffsetDateTime::from_unix_timestamp(at.as_second()).expect("both crates end at the year 9999")
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::SeededEntropy;
    use x509_parser::pem::parse_x509_pem;

    fn leaf() -> Leaf {
        Leaf {
            common_name: "server-7".into(),
            hosts: vec!["127.64.0.1".into(), "a.example.test".into()],
            usage: Usage::Both,
            valid_for: SignedDuration::from_hours(24),
        }
    }

    #[test]
    fn a_leaf_says_what_we_say_and_is_signed_by_its_authority() {
        let now: Timestamp = "2026-11-15T00:00:00Z".parse().unwrap();
        let entropy = SeededEntropy::new(1);
        let authority = Authority::create("Test CA", now, &entropy).unwrap();
        let key = KeyPair::generate();
        let request = Request::parse(&crate::request(&key, "I am admin").unwrap()).unwrap();
        let pem = authority.issue(request, &leaf(), now, &entropy).unwrap();

        let (_, ca_pem) = parse_x509_pem(authority.certificate.as_bytes()).unwrap();
        let (_, leaf_pem) = parse_x509_pem(pem.as_bytes()).unwrap();
        let ca = ca_pem.parse_x509().unwrap();
        let certificate = leaf_pem.parse_x509().unwrap();
        certificate.verify_signature(Some(ca.public_key())).unwrap();
        assert!(crate::answers(&pem, &crate::request(&key, "any").unwrap()));
        assert!(!crate::answers(&pem, &crate::request(&KeyPair::generate(), "any").unwrap()));
        assert_eq!(certificate.subject().to_string(), "CN=server-7");
        assert!(!certificate.is_ca());
        assert_eq!(certificate.public_key().raw, key.public_key_der());
        let names = certificate.subject_alternative_name().unwrap().unwrap();
        assert_eq!(names.value.general_names.len(), 2);
    }

    #[test]
    fn a_certificate_of_any_life_is_good_at_once_and_due_for_renewal_later() {
        let now: Timestamp = "2026-11-15T00:00:00Z".parse().unwrap();
        let entropy = SeededEntropy::new(1);
        let authority = Authority::create("Test CA", now, &entropy).unwrap();
        for minutes in [2, 60, 24 * 60, 397 * 24 * 60] {
            let valid_for = SignedDuration::from_mins(minutes);
            let leaf = Leaf { valid_for, ..leaf() };
            let (pem, _) = authority.issue_with_key(&leaf, now, &entropy).unwrap();
            let facts = crate::Facts::read(&pem).unwrap();
            assert!(facts.not_before < now, "{minutes} minutes: {facts:?}");
            assert_eq!(facts.not_after, now + valid_for);
            let used = facts.renew_at().duration_since(now);
            assert!(used > valid_for / 2 && used <= valid_for * 2 / 3, "{minutes}: {used:?}");
        }
    }

    #[test]
    fn a_host_that_is_no_name_is_refused() {
        let now: Timestamp = "2026-11-15T00:00:00Z".parse().unwrap();
        let entropy = SeededEntropy::new(1);
        let authority = Authority::create("Test CA", now, &entropy).unwrap();
        let leaf = Leaf { hosts: vec!["nön-ascii".into()], ..leaf() };
        assert!(matches!(authority.issue_with_key(&leaf, now, &entropy), Err(Error::BadName(_))));
    }
}
