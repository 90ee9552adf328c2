//! Keys, requests and certificates as a small authority answers them.

use super::*;
use crate::testing::{authority, desired, sign};
use std::os::unix::fs::PermissionsExt as _;

fn wanted(generation: i64, certificate: Option<String>) -> Desired {
    let certificate = DesiredCertificate { name: "internal".into(), generation, certificate };
    let trust = BTreeMap::from([("internal".to_owned(), "the bundle".to_owned())]);
    Desired { certificates: vec![certificate], trust, ..desired() }
}

#[test]
fn a_request_stays_the_same_until_its_certificate_is_in_place() {
    let directory = tempfile::tempdir().unwrap();
    let place = Place::open(directory.path()).unwrap();
    let first = apply(&place, &wanted(1, None)).unwrap();
    assert_eq!(first.missing, ["internal"]);
    assert_eq!(first.requests[0].generation, 1);
    assert_eq!(apply(&place, &wanted(1, None)).unwrap(), first);
    assert_eq!(fs::read_to_string(place.tls("internal-ca.pem")).unwrap(), "the bundle");

    let authority = authority();
    let certificate = sign(&authority, &first.requests[0].csr);
    let done = apply(&place, &wanted(1, Some(certificate.clone()))).unwrap();
    assert_eq!((done.requests, done.missing), (vec![], vec![]));
    let facts = Facts::read(&certificate).unwrap();
    let [installed] = &done.installed[..] else { panic!("{:?}", done.installed) };
    assert_eq!((installed.name.as_str(), installed.not_after), ("internal", facts.not_after));
    let pem = fs::read_to_string(place.tls("internal.pem")).unwrap();
    assert!(pem.starts_with("-----BEGIN PRIVATE KEY-----"), "{pem}");
    assert!(pem.ends_with(&certificate), "{pem}");
    let mode = fs::metadata(place.tls("internal.pem")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}

#[test]
fn a_new_generation_gets_a_new_key_while_the_old_certificate_serves() {
    let directory = tempfile::tempdir().unwrap();
    let place = Place::open(directory.path()).unwrap();
    let authority = authority();
    let first = apply(&place, &wanted(1, None)).unwrap().requests.remove(0);
    apply(&place, &wanted(1, Some(sign(&authority, &first.csr)))).unwrap();
    let old = fs::read_to_string(place.tls("internal.pem")).unwrap();

    let turned = apply(&place, &wanted(2, None)).unwrap();
    assert_eq!(turned.missing, Vec::<String>::new(), "the old one still serves");
    assert_eq!(turned.installed.len(), 1, "and is told of");
    assert_ne!(turned.requests[0].csr, first.csr);
    assert_eq!(fs::read_to_string(place.tls("internal.pem")).unwrap(), old);
    apply(&place, &wanted(2, Some(sign(&authority, &turned.requests[0].csr)))).unwrap();
    assert_ne!(fs::read_to_string(place.tls("internal.pem")).unwrap(), old);
    assert!(!place.tls("keys/internal-1.key").exists(), "the old key is kept");
}

#[test]
fn a_certificate_for_a_lost_key_is_not_used() {
    let directory = tempfile::tempdir().unwrap();
    let place = Place::open(directory.path()).unwrap();
    let lost = pki::request(&KeyPair::generate(), "internal").unwrap();
    let answer = apply(&place, &wanted(1, Some(sign(&authority(), &lost)))).unwrap();
    assert_eq!(answer.missing, ["internal"]);
    assert_eq!(answer.requests.len(), 1);
}

#[test]
fn what_was_revoked_stays_so_whatever_is_told_later() {
    let directory = tempfile::tempdir().unwrap();
    let place = Place::open(directory.path()).unwrap();
    let kept_after = |serials: &[&str]| {
        let revoked = serials.iter().map(ToString::to_string).collect();
        apply(&place, &Desired { revoked, ..wanted(1, None) }).unwrap();
        fs::read_to_string(place.tls("revoked-serials")).unwrap()
    };
    assert_eq!(kept_after(&[]), "");
    assert_eq!(kept_after(&["b2"]), "b2\n");
    let written = fs::metadata(place.tls("revoked-serials")).unwrap().modified().unwrap();
    assert_eq!(kept_after(&["b2"]), "b2\n");
    let again = fs::metadata(place.tls("revoked-serials")).unwrap().modified().unwrap();
    assert_eq!(written, again, "what does not change is not written");
    assert_eq!(kept_after(&["a1", "b2"]), "a1\nb2\n");
    assert_eq!(kept_after(&["c3"]), "a1\nb2\nc3\n");
}

#[test]
fn a_name_never_leaves_the_directory() {
    let directory = tempfile::tempdir().unwrap();
    let place = Place::open(directory.path()).unwrap();
    let mut bad = wanted(1, None);
    bad.certificates[0].name = "../start".into();
    assert!(matches!(apply(&place, &bad), Err(CertificateError::BadName(_))));
}
