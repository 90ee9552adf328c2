//! Customers' requests, made by openssl and keytool (`requests/make.sh`), and
//! the certificates they get.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

use model::{SeededEntropy, SignedDuration, Timestamp};
use pki::{Authority, ClientRequest, KeyPair, Refusal};
use std::path::Path;
use x509_cert::der::pem::{LineEnding, encode_string};
use x509_parser::certificate::X509Certificate;
use x509_parser::certification_request::X509CertificationRequest;
use x509_parser::pem::{Pem, parse_x509_pem};
use x509_parser::prelude::FromDer as _;

fn fixture(name: &str) -> String {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/requests");
    std::fs::read_to_string(directory.join(format!("{name}.csr"))).unwrap()
}

fn der(pem: &str) -> Vec<u8> {
    parse_x509_pem(pem.as_bytes()).unwrap().1.contents
}

fn pem(der: &[u8]) -> String {
    encode_string("CERTIFICATE REQUEST", LineEnding::LF, der).unwrap()
}

fn now() -> Timestamp {
    "2026-11-15T12:00:00.5Z".parse().unwrap()
}

fn authority(entropy: &SeededEntropy) -> Authority {
    Authority::create("Castellan u7k2m9qa client CA", now(), entropy).unwrap()
}

/// Everything that a certificate says.
fn expect_a_plain_client(leaf: &X509Certificate, ca: &X509Certificate, name: &str) {
    leaf.verify_signature(Some(ca.public_key())).unwrap();
    assert_eq!(leaf.subject().to_string(), format!("CN={name}"));
    assert_eq!(leaf.issuer().as_raw(), ca.subject().as_raw());
    assert!(!leaf.is_ca());
    let usage = leaf.extended_key_usage().unwrap().unwrap().value;
    assert!(usage.client_auth && !usage.server_auth && !usage.any && usage.other.is_empty());
    let usage = leaf.key_usage().unwrap().unwrap().value;
    assert_eq!(usage.flags, 1, "it may sign handshakes and nothing else");
    assert!(leaf.subject_alternative_name().unwrap().is_none());
    let known = ["2.5.29.19", "2.5.29.15", "2.5.29.37", "2.5.29.14", "2.5.29.35"];
    let found: Vec<String> = leaf.extensions().iter().map(|it| it.oid.to_id_string()).collect();
    assert_eq!(found, known);
    let life = leaf.validity().not_after.timestamp() - now().as_second();
    assert_eq!(life, 397 * 24 * 3600);
}

#[test]
fn every_kind_of_key_that_is_taken_gets_a_plain_certificate() {
    let entropy = SeededEntropy::new(1);
    let authority = authority(&entropy);
    let ca_pem = parse_x509_pem(authority.certificate.as_bytes()).unwrap().1;
    let ca = ca_pem.parse_x509().unwrap();
    let mut serials = std::collections::HashSet::new();
    for name in [
        "rsa-2048",
        "rsa-4096-sha512",
        "rsa-pss",
        "p256",
        "p384",
        "p384-sha384",
        "ed25519",
        "with-words",
        "all-but-authority",
        "beside",
        "keytool-rsa",
        "keytool-p384",
        "keytool-ed25519",
    ] {
        let csr = fixture(name);
        let request = ClientRequest::parse(&csr).unwrap_or_else(|why| panic!("{name}: {why}"));
        assert_eq!(request.name().as_str(), "orders");
        let issued = authority.issue_to_client(&request, now(), &entropy).unwrap();
        let blocks: Vec<Pem> =
            Pem::iter_from_buffer(issued.pem.as_bytes()).collect::<Result<_, _>>().unwrap();
        let leaf = blocks[0].parse_x509().unwrap();
        expect_a_plain_client(&leaf, &ca, "orders");
        assert_eq!(blocks[1].contents, ca_pem.contents, "keytool wants the whole chain");
        assert_eq!(leaf.raw_serial_as_string().replace(':', ""), issued.serial);
        assert_eq!(leaf.validity().not_after.timestamp(), issued.expires_at.as_second());
        assert!(serials.insert(issued.serial), "no serial comes twice");
        let (csr, wanted) = (der(&csr), leaf.public_key().raw);
        let (_, csr) = X509CertificationRequest::from_der(&csr).unwrap();
        assert_eq!(csr.certification_request_info.subject_pki.raw, wanted, "{name}");
    }
}

#[test]
fn what_gets_no_certificate_and_why() {
    let check = |csr: &str, expected: Refusal| {
        let start: String = csr.chars().take(60).collect();
        assert_eq!(ClientRequest::parse(csr).unwrap_err(), expected, "{start}");
    };
    for (name, expected) in [
        ("rsa-1024", Refusal::RsaBits(1024)),
        ("rsa-2047", Refusal::RsaBits(2047)),
        ("sha1", Refusal::UnknownSignature),
        ("ec-sha512", Refusal::UnknownSignature),
        ("p521", Refusal::UnknownKey),
        ("secp256k1", Refusal::UnknownKey),
        ("ed448", Refusal::UnknownKey),
        ("much-asked", Refusal::Authority),
        ("no-name", Refusal::NoName),
        ("no-subject", Refusal::NoName),
        ("two-names", Refusal::SeveralNames(2)),
        ("two-names-beside", Refusal::SeveralNames(2)),
        ("bad-name", Refusal::BadName),
        ("dot-first", Refusal::BadName),
        ("unicode", Refusal::BadName),
    ] {
        check(&fixture(name), expected);
    }
    assert_eq!(ClientRequest::parse(&fixture("long-name")).unwrap().name().as_str().len(), 64);

    let good = fixture("p256");
    let bytes = der(&good);
    check("", Refusal::NoPem);
    check("nonsense", Refusal::NoPem);
    check(&"x".repeat(1024 * 1024), Refusal::TooLarge);
    check(&format!("{good}{good}"), Refusal::NoPem);
    check(&format!("{good}and more"), Refusal::NoPem);
    check(&good.replace("-----END CERTIFICATE REQUEST-----", ""), Refusal::NoPem);
    check(&good.replace("END CERTIFICATE REQUEST", "END CERTIFICATE"), Refusal::NoPem);
    check(&good.replace('\n', ""), Refusal::NoPem);
    check(&good.replacen('A', "\0", 1).replacen('A', "é", 1), Refusal::NoPem);
    check(&good.replace("CERTIFICATE REQUEST", "CERTIFICATE"), Refusal::NoRequest);
    check(&pem(&[]), Refusal::NoRequest);
    check(&pem(&[0x30, 0x84, 0xff, 0xff, 0xff, 0xff]), Refusal::NoRequest);
    check(&pem(&[&bytes[..], b"more"].concat()), Refusal::NoRequest);
    check(&pem(&bytes[..bytes.len() - 1]), Refusal::NoRequest);
    let key = KeyPair::generate().private_key_pem();
    check(&format!("{}{good}", key.expose()), Refusal::PrivateKey);
    check(&authority(&SeededEntropy::new(1)).certificate, Refusal::NoRequest);
}

/// Whatever bit is flipped, nobody gets a certificate for it, and nothing panics.
/// Of the signature's own name, which is not signed, some bits are not looked at;
/// nothing comes of them.
#[test]
fn a_request_that_was_touched_is_refused() {
    for name in ["p256", "rsa-2048", "ed25519"] {
        let bytes = der(&fixture(name));
        let whole = ClientRequest::parse(&pem(&bytes)).unwrap();
        let (_, request) = X509CertificationRequest::from_der(&bytes).unwrap();
        let signature = bytes.len() - request.signature_value.data.len();
        let signed = request.certification_request_info.raw.len();
        for at in 0..bytes.len() {
            let mut touched = bytes.clone();
            touched[at] ^= 1;
            match ClientRequest::parse(&pem(&touched)) {
                Err(_) => {}
                Ok(taken) => {
                    assert_eq!(taken, whole, "{name}, byte {at}");
                    assert!(at > signed && at < signature, "{name}, byte {at}");
                }
            }
        }
        let mut touched = bytes;
        *touched.last_mut().unwrap() ^= 0x80;
        assert_eq!(ClientRequest::parse(&pem(&touched)), Err(Refusal::BadSignature), "{name}");
    }
}

/// A form that was not encoded turns each plus of the base64 into a space.
#[test]
fn a_plus_that_a_form_has_eaten_is_put_back() {
    let mut eaten = 0;
    for name in ["rsa-2048", "rsa-4096-sha512", "keytool-rsa", "p384"] {
        let csr = fixture(name);
        eaten += csr.matches('+').count();
        let spoilt = csr.replace('+', " ");
        assert_eq!(ClientRequest::parse(&spoilt), ClientRequest::parse(&csr), "{name}");
    }
    assert!(eaten > 20, "the requests have some");
    // Line ends of forms.
    let windows = fixture("p256").replace('\n', "\r\n");
    assert!(ClientRequest::parse(&windows).is_ok());
}

#[test]
fn no_certificate_outlives_its_authority() {
    let entropy = SeededEntropy::new(1);
    let authority = authority(&entropy);
    let request = ClientRequest::parse(&fixture("p256")).unwrap();
    let end = now() + SignedDuration::from_hours(24 * 3653);
    let late = end - SignedDuration::from_hours(48);
    let issued = authority.issue_to_client(&request, late, &entropy).unwrap();
    assert_eq!(issued.expires_at.as_second(), end.as_second());
}

#[test]
fn a_key_of_another_authority_signs_nothing() {
    let entropy = SeededEntropy::new(1);
    let mixed = Authority { key: authority(&entropy).key, ..authority(&entropy) };
    let request = ClientRequest::parse(&fixture("p256")).unwrap();
    let refused = mixed.issue_to_client(&request, now(), &entropy);
    assert!(matches!(refused, Err(pki::Error::BadAuthority)), "{refused:?}");
}
